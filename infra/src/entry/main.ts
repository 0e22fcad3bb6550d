import { StageSettingsError } from '../settings/stageSettingsError.ts';
import { CommandLineError, readCommandLine } from './commandLine.ts';
import { deploy, showDiff } from './deploy.ts';
import { gatherSettings } from './gatherSettings.ts';
import { BundleMissingError, synthesize } from './synthesize.ts';
import { writeUsage } from './usage.ts';

/** @returns exit status */
async function run(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args);
  if (line.action === 'help') {
    console.log(writeUsage());
    return 0;
  }
  const { settings, placeholders } = gatherSettings(line);
  const assembly = await synthesize(settings);
  console.log(`prism-gateway-${settings.stage}: ${assembly}/Gateway.template.json`);
  if (placeholders.length > 0) console.log(`With placeholders, to look at, not to deploy: ${placeholders.join(', ')}`);
  if (line.action === 'diff') return await showDiff(assembly);
  if (line.action === 'deploy') return await deploy(assembly, line);
  return 0;
}

/** Faults of the user's own, which need no stack trace. */
const isPlain = (error: unknown) =>
  error instanceof StageSettingsError || error instanceof CommandLineError || error instanceof BundleMissingError;

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  console.error(isPlain(error) && error instanceof Error ? `${error.message}\n--help lists every setting.` : error);
  process.exitCode = 1;
}
