import { createAccountView } from '../deploy/createAccountView.ts';
import { describeCost, estimateCost } from '../deploy/estimateCost.ts';
import { PreflightError, preflight } from '../deploy/preflight.ts';
import { StackStuckError } from '../deploy/repairStack.ts';
import type { StageSettings } from '../settings/stageSettings.ts';
import { StageSettingsError } from '../settings/stageSettingsError.ts';
import { type CommandLine, CommandLineError, readCommandLine } from './commandLine.ts';
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
  if (line.action === 'deploy') return await deployChecked(settings, line);
  const assembly = await synthesize(settings);
  console.log(`prism-gateway-${settings.stage}: ${assembly}/*.template.json`);
  console.log(describeCost(estimateCost(settings)));
  if (placeholders.length > 0) console.log(`With placeholders, to look at, not to deploy: ${placeholders.join(', ')}`);
  return line.action === 'diff' ? await showDiff(assembly) : 0;
}

/** Deploys, once nothing stands in the way and the reader has been told what it costs. @returns exit status */
async function deployChecked(given: StageSettings, { yes }: Pick<CommandLine, 'yes'>): Promise<number> {
  const account = createAccountView(given.region ?? '');
  const { settings, accountId, notes } = await preflight({
    account,
    settings: given,
    nodeVersion: process.versions.node,
  });
  console.log(`prism-gateway-${settings.stage}, account ${accountId}, ${settings.region}`);
  for (const note of notes) console.log(`  ${note}`);
  console.log(describeCost(estimateCost(settings)));
  return await deploy({ settings, assembly: await synthesize(settings), yes });
}

/** Faults of the user's own, which need no stack trace. */
const isPlain = (error: unknown) =>
  error instanceof StageSettingsError ||
  error instanceof CommandLineError ||
  error instanceof BundleMissingError ||
  error instanceof PreflightError ||
  error instanceof StackStuckError;

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  console.error(isPlain(error) && error instanceof Error ? `${error.message}\n--help lists every setting.` : error);
  process.exitCode = 1;
}
