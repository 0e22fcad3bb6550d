import { setTimeout as pause } from 'node:timers/promises';
import { createStackControl, runCdk } from '../deploy/createStackControl.ts';
import { deployStacks } from '../deploy/deployStacks.ts';
import type { StageSettings } from '../settings/stageSettings.ts';

/** How long a new function may take until it answers, in milliseconds. */
const READY_WITHIN_MS = 60_000;
const PAUSE_MS = 2000;

/** Shows what a deployment would change. @returns exit status */
export async function showDiff(assembly: string): Promise<number> {
  return await runCdk(['diff', '--app', assembly]);
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
}

/**
 * Deploys a synthesised app, then asks the gateway where clients call it whether its tables answer.
 *
 * @returns exit status; 1 where a stack was rolled back, or the gateway does not answer
 * @throws StackStuckError (`STACK_STUCK`)
 */
export async function deploy({ settings, assembly, yes }: DeployOptions): Promise<number> {
  const control = createStackControl({ settings, assembly, yes });
  const deployed = await deployStacks({ control, settings, say: (line) => console.log(line) });
  if (deployed === undefined) {
    console.error('A stack was rolled back; its events tell why. The same command goes on from there.');
    return 1;
  }
  const { url } = deployed;
  const ready = await waitUntilReady(url, Date.now() + READY_WITHIN_MS);
  console.log(
    ready ? `${url}/ready answers: the gateway is up.` : `${url}/ready does not answer: see the function's log.`,
  );
  return ready ? 0 : 1;
}
