import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** A demo in a process of its own, whose temporary folder is the test's. */
export interface RunningDemo extends AsyncDisposable {
  readonly process: ChildProcess;
  /** Everything that it has printed, line by line. */
  readonly output: readonly string[];
  /** Where the demo makes its folder. */
  readonly tmp: string;
  /** Waits for a line. @throws Error with all that it printed, when it ends first */
  waitForLine(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits for its end. @returns its exit code */
  ended: Promise<number | null>;
  /** The folders that demos have left. */
  listFolders(): Promise<readonly string[]>;
}

/** Starts the demo as `npm run demo -- …` does. */
export async function startDemo(args: readonly string[]): Promise<RunningDemo> {
  const tmp = await mkdtemp(join(tmpdir(), 'prism-demo-test-'));
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, TMPDIR: tmp },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of waiting) look();
  };
  // Both are pipes, as `stdio` says.
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface({ input: stream }).on('line', (line) => {
      output.push(line);
      wake();
    });
  }
  // `close` tells the exit code, or null after a signal.
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    process: child,
    output,
    tmp,
    ended,
    async waitForLine(pattern) {
      const found = Promise.withResolvers<RegExpExecArray>();
      const look = () => {
        for (const line of output) {
          const match = pattern.exec(line);
          if (match) return found.resolve(match);
        }
      };
      waiting.add(look);
      look();
      const gone = ended.then((code) => {
        throw new Error(`The demo ended with ${code} before it said ${pattern}:\n${output.join('\n')}`);
      });
      return await Promise.race([found.promise, gone]).finally(() => waiting.delete(look));
    },
    listFolders: async () => (existsSync(tmp) ? (await readdir(tmp)).map((name) => join(tmp, name)) : []),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      await rm(tmp, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
