import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { guardChild } from '@prism-gateway/runtime/guard-child';
import { DemoError } from '../demoError.ts';

/** What is started. */
export interface ChildOrder {
  /** As messages call it: `the gateway`. */
  readonly name: string;
  /** Path of the TypeScript file that Node runs. */
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  /** File to which everything that it prints is added. */
  readonly logPath: string;
  /** Matches the line that says that it is up; its first group is what `ready` becomes. */
  readonly readyPattern: RegExp;
  /** Told when it ends without having been asked to. */
  readonly onUnexpectedEnd: (error: DemoError) => void;
  readonly signal: AbortSignal;
}

/** A child process at work. */
export interface Child extends AsyncDisposable {
  /** What it said when it was up, such as its URL. */
  readonly ready: string;
  /** Stops it as an operator would: SIGTERM, and SIGKILL where that does not do. */
  stop(): Promise<void>;
  /** Stops it as a crash would: SIGKILL. */
  kill(): Promise<void>;
}

/** A gateway and a relayer are up in a second; a machine under load takes longer. */
const START_TIMEOUT_MS = 60_000;
/** How long a process may take to end after SIGTERM. */
const STOP_TIMEOUT_MS = 3000;

/** Copies what a child prints to its log file, and waits for the line that says that it is up. */
function readOutput(child: ChildProcess, { logPath, readyPattern }: ChildOrder): Promise<string> {
  const ready = Promise.withResolvers<string>();
  const log = createWriteStream(logPath, { flags: 'a' });
  const takeLine = (line: string) => {
    log.write(`${line}\n`);
    const found = readyPattern.exec(line)?.[1];
    if (found !== undefined) ready.resolve(found);
  };
  for (const stream of [child.stdout, child.stderr])
    if (stream) createInterface({ input: stream }).on('line', takeLine);
  child.once('close', () => log.end());
  return ready.promise;
}

/**
 * Starts a Node process and waits until it is up. It is in a group of its own, so that a terminal's Ctrl-C reaches this process
 * only, which then stops it in order; and it ends with this process, however that ends.
 *
 * @param order - what is started
 * @throws DemoError `PROCESS_ENDED`, `PROCESS_SILENT`; the signal's reason
 */
export async function spawnChild(order: ChildOrder): Promise<Child> {
  const { name, entry, env, logPath, signal } = order;
  signal.throwIfAborted();
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, [entry], {
    env: { PATH, HOME, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let isAsked = false;
  const closed = once(child, 'close').finally(guardChild(child));
  const gone = closed.then(([code, by]) => {
    const error = new DemoError('PROCESS_ENDED', `${name} has ended with ${by ?? code}: see ${logPath}`);
    if (!isAsked) order.onUnexpectedEnd(error);
    return error;
  });
  async function end(how: NodeJS.Signals): Promise<void> {
    isAsked = true;
    child.kill(how);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await gone;
    clearTimeout(timer);
  }
  try {
    const ready = await waitUntilReady(order, readOutput(child, order), gone);
    return {
      ready,
      stop: () => end('SIGTERM'),
      kill: () => end('SIGKILL'),
      [Symbol.asyncDispose]: () => end('SIGTERM'),
    };
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
}

async function waitUntilReady(
  { name, logPath, signal }: ChildOrder,
  ready: Promise<string>,
  gone: Promise<DemoError>,
): Promise<string> {
  const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
  const ended = AbortSignal.any([signal, timeout]);
  const given = Promise.withResolvers<never>();
  const giveUp = () => {
    const silent = new DemoError('PROCESS_SILENT', `${name} is not up after ${START_TIMEOUT_MS} ms: see ${logPath}`);
    given.reject(signal.aborted ? signal.reason : silent);
  };
  ended.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([
      ready,
      given.promise,
      gone.then((error) => {
        throw error;
      }),
    ]);
  } finally {
    ended.removeEventListener('abort', giveUp);
  }
}
