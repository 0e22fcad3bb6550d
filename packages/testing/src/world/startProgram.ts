import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { guardChild } from '@prism-gateway/node/guard-child';
import { TIMEOUT_MS } from '../timeout.ts';

const METRICS_LINE = /"metrics":"(http[^"]+)"/;

/** The programs of this repository: the file that Node runs, and the line that says that one is up, with its URL. */
const PROGRAMS = {
  gateway: { file: 'gateway/src/entry/server.ts', upLine: /"address":"([^"]+)".*"msg":"listening"/ },
  relayer: { file: 'relayer/src/entry/relayer.ts', upLine: /"metrics":"([^"]+)".*"msg":"started"/ },
  watchtower: { file: 'relayer/src/entry/watchtower.ts', upLine: /"metrics":"([^"]+)".*"msg":"started"/ },
  payments: { file: 'payments/src/entry/payments.ts', upLine: METRICS_LINE },
  gasMonitor: { file: 'payments/src/entry/gasMonitor.ts', upLine: METRICS_LINE },
  frontend: { file: 'payments/src/entry/frontend.ts', upLine: /at (http\S+)\/$/ },
} as const;

export type ProgramName = keyof typeof PROGRAMS;

/** Settings of a program. */
export type ProgramEnv = Readonly<Record<string, string>>;

export interface ProgramOptions {
  /** Settings beyond the rig's own: 127.0.0.1, and any free ports. */
  readonly env?: ProgramEnv;
  /** Flags of Node, such as those of `npm start`; default none. */
  readonly nodeFlags?: readonly string[];
  /** As messages call it; default `The relayer` and the like. */
  readonly title?: string;
  /** File that takes every line it prints. */
  readonly logFile?: string | undefined;
  /** Folder that goes when this process ends before the program. */
  readonly folder?: string | undefined;
  /** Called when it ends after its start without having been asked to. */
  readonly onUnexpectedEnd?: ((error: ProgramEndedError) => void) | undefined;
  /** Gives its start up. */
  readonly signal?: AbortSignal | undefined;
}

/** A program of this repository in a process of its own. */
export interface Program extends AsyncDisposable {
  /** Of its API, or of its metrics; like `http://127.0.0.1:40123`, and another one after a restart. */
  readonly url: string;
  readonly process: ChildProcess;
  /** Every line it has printed, over all its lives. */
  readonly output: readonly string[];
  /** Reads a counter or gauge, all label values together. */
  readMetric(name: string, labels?: string): Promise<number>;
  /** Stops it as an operator would, by SIGTERM. @returns its exit code */
  stop(): Promise<number | null>;
  /** Stops it as a crash would, by SIGKILL unless set otherwise. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Kills it if it still runs, and starts it again with the same settings. */
  restart(): Promise<void>;
}

/** A program ended by itself, or did not come up; `message` says how, with what it printed or where that is. */
export class ProgramEndedError extends Error {
  override readonly name = 'ProgramEndedError';
  readonly code = 'PROGRAM_ENDED';
}

interface Life {
  readonly process: ChildProcess;
  readonly url: string;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts the process once. It is in a group of its own, so that a terminal's Ctrl-C reaches this process only. */
async function startLife(name: ProgramName, options: ProgramOptions, output: string[]): Promise<Life> {
  const { nodeFlags = [], title = `The ${name}`, logFile, folder, onUnexpectedEnd, signal } = options;
  signal?.throwIfAborted();
  const { file, upLine } = PROGRAMS[name];
  const entry = fileURLToPath(new URL(`../../../${file}`, import.meta.url));
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [...nodeFlags, entry], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const log = logFile === undefined ? undefined : createWriteStream(logFile, { flags: 'a' });
  const up = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      output.push(line);
      log?.write(`${line}\n`);
      const found = upLine.exec(line)?.[1];
      if (found !== undefined) up.resolve(found);
    });
  }
  const fail = (what: string) =>
    new ProgramEndedError(`${title} ${what}${logFile === undefined ? `:\n${output.join('\n')}` : `: see ${logFile}`}`);
  let isExpected = false;
  const closed = once(child, 'close').finally(guardChild(child, folder === undefined ? {} : { folder }));
  const gone = closed.then(([code, by]) => {
    log?.end();
    const error = fail(`ended with ${by ?? code}`);
    up.reject(error);
    if (!isExpected) onUnexpectedEnd?.(error);
    // `close` has the exit code, or null after a signal.
    return code as number | null;
  });
  const end = async (how: NodeJS.Signals) => {
    isExpected = true;
    child.kill(how);
    return await gone;
  };
  const timer = setTimeout(() => up.reject(fail(`is not up after ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  const giveUp = () => up.reject(signal?.reason);
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    return { process: child, url: await up.promise, end };
  } catch (error) {
    await end('SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

function sumSamples(text: string, name: string, labels: string): number {
  const samples = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  const chosen = samples.filter((line) => line.includes(labels));
  return chosen.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/**
 * Starts a program of this repository in a process of its own and waits until it is up. It ends with this process, however that ends.
 *
 * @param name - which one
 * @param options - its settings
 * @throws ProgramEndedError `PROGRAM_ENDED` with what it printed, if it ends instead or stays silent; the signal's reason
 */
export async function startProgram(name: ProgramName, options: ProgramOptions = {}): Promise<Program> {
  const output: string[] = [];
  let life = await startLife(name, options, output);
  const stop = () => life.end('SIGTERM');
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => void (await life.end(signal));
  return {
    get url() {
      return life.url;
    },
    get process() {
      return life.process;
    },
    output,
    async readMetric(metric, labels = '') {
      const response = await fetch(`${life.url}/metrics`);
      return sumSamples(await response.text(), metric, labels);
    },
    stop,
    kill,
    async restart() {
      await kill();
      life = await startLife(name, options, output);
    },
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
