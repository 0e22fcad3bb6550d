/** `npm run demo`: the whole loop on one machine, everything real. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandLineError, USAGE_STATUS } from '@prism-gateway/node/command-line';
import { DemoError } from './demoError.ts';
import { type DemoOptions, parseOptions, usage } from './options.ts';
import { runDemo } from './runDemo.ts';

/** Within this time of a signal another one is taken for the same, in milliseconds: npm repeats a terminal's Ctrl-C. */
const REPEATED_SIGNAL_MS = 500;
/** 128 and the number of SIGINT, as shells have it. */
const INTERRUPTED = 130;

/** Makes a signal that SIGINT and SIGTERM abort; a second one ends the process at once, and its children with it. */
function listenForInterrupt(): AbortSignal {
  const controller = new AbortController();
  let firstAt: number | undefined;
  const take = () => {
    firstAt ??= performance.now();
    if (performance.now() - firstAt > REPEATED_SIGNAL_MS) process.exit(INTERRUPTED);
    controller.abort(new DemoError('INTERRUPTED', 'Interrupted; everything has been stopped.'));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, take);
  return controller.signal;
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Ours say what there is to say; of others the place may help.
  return error instanceof DemoError || 'code' in error ? error.message : (error.stack ?? error.message);
}

async function run(options: DemoOptions): Promise<number> {
  const interrupted = listenForInterrupt();
  const dir = await mkdtemp(join(tmpdir(), 'prism-demo-'));
  try {
    const isGood = await runDemo({ options, print: console.log, dir, interrupted });
    if (isGood) await rm(dir, { recursive: true, force: true });
    else console.error(`Logs and data are kept in ${dir}`);
    return isGood ? 0 : 1;
  } catch (error) {
    // A step's error after the signal was aborted says nothing more.
    const reason: unknown = interrupted.aborted ? interrupted.reason : error;
    console.error(`${describeError(reason)}\nLogs and data are kept in ${dir}`);
    return interrupted.aborted ? INTERRUPTED : 1;
  }
}

async function main(): Promise<number> {
  try {
    const options = parseOptions(process.argv.slice(2));
    if (!options.help) return await run(options);
    console.log(usage);
    return 0;
  } catch (error) {
    if (!(error instanceof CommandLineError)) throw error;
    console.error(error.message);
    return USAGE_STATUS;
  }
}

if (import.meta.main) process.exit(await main());
