import { setTimeout as pause } from 'node:timers/promises';
import { createAccountView } from '../deploy/createAccountView.ts';
import { createStackControl, runCdk } from '../deploy/createStackControl.ts';
import { deployStacks } from '../deploy/deployStacks.ts';
import { describeCost, estimateCost } from '../deploy/estimateCost.ts';
import { PreflightError, preflight } from '../deploy/preflight.ts';
import { StackStuckError } from '../deploy/repairStack.ts';
import type { StageSettings } from '../settings/stageSettings.ts';
import { StageSettingsError } from '../settings/stageSettingsError.ts';
import { type CommandLine, CommandLineError, readCommandLine } from './commandLine.ts';
import { gatherSettings } from './gatherSettings.ts';
import { BundleMissingError, synthesize } from './synthesize.ts';
import { writeUsage } from './usage.ts';

/** How long a new function may take until it answers, in milliseconds. */
const READY_WITHIN_MS = 60_000;
const PAUSE_MS = 2000;

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
  return line.action === 'diff' ? await runCdk(['diff', '--app', assembly]) : 0;
}

/** Deploys, once nothing stands in the way and the reader has seen what it costs. @returns exit status */
async function deployChecked(given: StageSettings, { yes, now }: Pick<CommandLine, 'yes' | 'now'>): Promise<number> {
  const account = createAccountView(given.region ?? '');
  const { settings, accountId, notes } = await preflight({
    account,
    settings: given,
    nodeVersion: process.versions.node,
  });
  console.log(`prism-gateway-${settings.stage}, account ${accountId}, ${settings.region}`);
  for (const note of notes) console.log(`  ${note}`);
  console.log(describeCost(estimateCost(settings)));
  return await deploy({ settings, assembly: await synthesize(settings), yes, now });
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/ready`, { signal: AbortSignal.timeout(PAUSE_MS * 5) })).ok;
  } catch {
    // A new domain name takes a while to be known.
    return false;
  }
}

async function waitUntilReady(url: string, deadline: number): Promise<boolean> {
  while (Date.now() < deadline) {
    if (await isReady(url)) return true;
    await pause(PAUSE_MS);
  }
  return false;
}

interface DeployOptions {
  readonly settings: StageSettings;
  /** Directory of the synthesised app. */
  readonly assembly: string;
  readonly yes: boolean;
  readonly now: boolean;
}

/**
 * Deploys a synthesised app, then asks the gateway where clients call it whether its tables answer.
 *
 * @returns exit status; 1 if a stack was rolled back, or the gateway does not answer
 * @throws StackStuckError (`STACK_STUCK`)
 */
async function deploy({ settings, assembly, yes, now }: DeployOptions): Promise<number> {
  const control = createStackControl({ settings, assembly, yes });
  const deployed = await deployStacks({ control, settings, now, say: (line) => console.log(line) });
  if (deployed === undefined) {
    console.error('A stack was rolled back; its events say why. The same command goes on from there.');
    return 1;
  }
  const { url } = deployed;
  const ready = await waitUntilReady(url, Date.now() + READY_WITHIN_MS);
  console.log(
    ready ? `${url}/ready answers: the gateway is up.` : `${url}/ready does not answer: see the function's log.`,
  );
  return ready ? 0 : 1;
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
