import { type ChildProcess, execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Summary } from '../simulate.ts';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
/** Compiled sources, which spare each process a third of its start. */
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/node', import.meta.url));
/** A line of JSON with many breaches. */
const MAX_OUTPUT_BYTES = 2 ** 26;

/** The command of a world, as one types it. */
export const commandOf = (args: readonly string[]): string => `npx prism simulate ${args.join(' ')}`;

/** Processes of running worlds; they end with this one. */
const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Lives a world in a process of its own. @returns what it has shown; one whose process failed shows the breach `crash` */
export function runWorld(args: readonly string[]): Promise<Summary> {
  return new Promise((resolve) => {
    const options = { maxBuffer: MAX_OUTPUT_BYTES, env: { NODE_COMPILE_CACHE: CACHE, ...process.env } };
    const child = execFile(process.execPath, [main, ...args, '--json'], options, (error, stdout, stderr) => {
      living.delete(child);
      const line = stdout.trim().split('\n').at(-1) ?? '';
      if (line.startsWith('{')) return resolve(JSON.parse(line) as Summary);
      const text = `${stderr.trim().split('\n').slice(0, 8).join('\n')} ${error?.signal ?? ''}`;
      const crash = { invariant: 'crash', text, about: '', atMs: 0 };
      resolve({ seed: '', digest: '', virtualMs: 0, realMs: 0, cpuMs: 0, counts: {}, breaches: [crash] });
    });
    living.add(child);
  });
}

/** Does work for each item, some at a time. */
export async function inParallel<T>(items: Iterable<T>, jobs: number, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value);
    }),
  );
}

/** Names of the invariants that a world has broken, in order. */
export const brokenBy = ({ breaches }: Summary): readonly string[] =>
  [...new Set(breaches.map(({ invariant }) => invariant))].sort();
