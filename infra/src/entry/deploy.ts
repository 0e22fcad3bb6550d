import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { places } from './places.ts';

/** How long a new function may take until it answers, in milliseconds. */
const READY_WITHIN_MS = 60_000;
const PAUSE_MS = 2000;

/** Runs the CDK's command. @returns its exit status */
async function runCdk(args: readonly string[]): Promise<number> {
  const child = spawn(places.cdk, [...args, '--no-notices', '--no-version-reporting'], { stdio: 'inherit' });
  const [status] = await once(child, 'exit');
  return typeof status === 'number' ? status : 1;
}

/** Shows what a deployment would change. @returns exit status */
export async function showDiff(assembly: string): Promise<number> {
  return await runCdk(['diff', '--app', assembly]);
}

/** Stack outputs, as the CDK's command writes them. */
function readUrl(outputsFile: string): string | undefined {
  // The file is the command's own, just written: stack name, then output name.
  const stacks = JSON.parse(readFileSync(outputsFile, 'utf8')) as Readonly<Record<string, Record<string, string>>>;
  return Object.values(stacks)[0]?.Url;
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

/**
 * Deploys a synthesised app, then asks the new function whether its tables answer.
 *
 * @param assembly - directory of the app
 * @returns exit status; 1 where the function does not answer
 */
export async function deploy(assembly: string, { yes }: { readonly yes: boolean }): Promise<number> {
  const outputsFile = join(assembly, 'outputs.json');
  const approval = ['--require-approval', yes ? 'never' : 'broadening'];
  const status = await runCdk(['deploy', '--app', assembly, '--outputs-file', outputsFile, ...approval]);
  if (status !== 0) return status;
  const url = readUrl(outputsFile);
  if (url === undefined) return 1;
  const ready = await waitUntilReady(url, Date.now() + READY_WITHIN_MS);
  console.log(
    ready ? `${url}/ready answers: the gateway is up.` : `${url}/ready does not answer: see the function's log.`,
  );
  return ready ? 0 : 1;
}
