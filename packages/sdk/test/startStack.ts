import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startWorld } from '@prism-gateway/testing/world';

/** The folder that examples and tutorials are run in. */
const ROOT = join(import.meta.dirname, '../../..');

/** A program under test. */
export interface RunningProgram {
  readonly output: readonly string[];
  /** Waits for a line. @throws Error with all output, when the program ends before */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits for the end. @returns the exit code */
  ended(): Promise<number | null>;
  /** Ends it as an operator would. @returns the exit code */
  stop(): Promise<number | null>;
}

/** A devnet with the contracts, and a gateway; account 1 is an official relayer on its whitelist. */
export interface Stack {
  /** Runs a program of the project's own Node with settings for this stack. @param input - its standard input */
  run(args: readonly string[], input?: string): RunningProgram;
  /** Ends all programs, the gateway and the devnet. */
  stop(): Promise<void>;
}

/** Watches a child process. */
function watchProgram(child: ChildProcess): RunningProgram {
  const output: string[] = [];
  const news = new EventTarget();
  const closed = once(child, 'close');
  const read = (line: string) => {
    output.push(line);
    news.dispatchEvent(new Event('line'));
  };
  for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', read);
  // `close` tells the exit code, or null after a signal.
  const ended = async () => (await closed)[0] as number | null;
  return {
    output,
    ended,
    async waitFor(pattern) {
      for (let from = 0; ; ) {
        const found = output
          .slice(from)
          .map((line) => pattern.exec(line))
          .find((match) => match !== null);
        if (found) return found;
        from = output.length;
        const line = new Promise((resolve) => news.addEventListener('line', resolve, { once: true }));
        const isOver = await Promise.race([line.then(() => false), closed.then(() => true)]);
        if (isOver && output.length === from) throw new Error(`It ended before ${pattern}:\n${output.join('\n')}`);
      }
    },
    async stop() {
      child.kill('SIGTERM');
      return await ended();
    },
  };
}

/** Starts it. */
export async function startStack(): Promise<Stack> {
  const world = await startWorld({ relayers: 1 });
  const file = join(world.dir, 'devnet.json');
  await writeFile(file, JSON.stringify({ rpcUrl: world.devnet.rpcUrl, ...world.deployment }));
  const children: ChildProcess[] = [];
  return {
    run(args, input) {
      const env = { ...process.env, GATEWAY_URL: world.gateway.url, DEVNET_FILE: file, PORT: '0' };
      const child = spawn(process.execPath, [...args], { cwd: ROOT, env });
      child.stdin.end(input);
      children.push(child);
      return watchProgram(child);
    },
    async stop() {
      for (const child of children) child.kill('SIGKILL');
      await world[Symbol.asyncDispose]();
    },
  };
}
