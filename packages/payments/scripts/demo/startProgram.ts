import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A program of this package, in a process of its own. */
export interface Program {
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/**
 * Starts a program; it dies with this process.
 *
 * @param name - of its file in `src/entry`
 * @param settings - its environment
 * @returns the program
 */
export function startProgram(name: 'payments' | 'gasMonitor', settings: Readonly<Record<string, string>>): Program {
  const entry = fileURLToPath(new URL(`../../src/entry/${name}.ts`, import.meta.url));
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...settings };
  const child = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  children.add(child);
  const ended = once(child, 'exit').then(() => children.delete(child));
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  return { kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}
