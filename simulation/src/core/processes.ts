import { AsyncLocalStorage } from 'node:async_hooks';
import type { DatabaseSync } from 'node:sqlite';
import type { Random } from './random.ts';

/** The clock of a machine. */
export interface MachineClock {
  /** How far it is ahead of the time, in milliseconds; below 0: behind. */
  offMs: number;
}

/** A process of the simulated world: what its code starts belongs to it, and dies with it. */
export interface SimProcess {
  /** Unique, like `relayer-1#2` for its second start. */
  readonly name: string;
  /** The machine that it runs on. */
  readonly host: string;
  readonly clock: MachineClock;
  readonly random: Random;
  isAlive: boolean;
  /** What it will do once it runs on, while it is paused. */
  paused: (() => void)[] | undefined;
  /** Databases that it has open. */
  readonly databases: Map<DatabaseSync, string>;
  /** Servers that it listens with; closed when it dies. */
  readonly closers: Set<() => void>;
  /** Dies right after this many commits; 0: it does not. */
  diesAfterCommits: number;
  /** Called when it dies of itself, as after a commit. */
  onDeath: () => void;
}

/** Thrown to a dead process's code that still tries to do something. */
export class ProcessDiedError extends Error {
  override readonly name = 'ProcessDiedError';
  readonly code = 'PROCESS_DIED';
}

const current = new AsyncLocalStorage<SimProcess>();

/** @returns the process whose code is running; undefined: it is the world's own */
export const currentProcess = (): SimProcess | undefined => current.getStore();

/** Runs code as a process's own. */
export const runAs = <T>(process: SimProcess | undefined, work: () => T): T =>
  process === undefined ? current.exit(work) : current.run(process, work);

/** @throws ProcessDiedError when the process whose code is running is dead */
export function assertAlive(): void {
  if (current.getStore()?.isAlive === false) throw new ProcessDiedError();
}

/** Does something of a process now, or once that runs on. */
export function whenRunning(process: SimProcess | undefined, work: () => void): void {
  if (process?.paused === undefined) work();
  else process.paused.push(work);
}

/** Makes a process, which does nothing yet. */
export function createProcess(
  name: string,
  options: { readonly host: string; readonly clock: MachineClock; readonly random: Random },
): SimProcess {
  const closers = new Set<() => void>();
  return {
    ...options,
    name,
    isAlive: true,
    paused: undefined,
    databases: new Map(),
    closers,
    diesAfterCommits: 0,
    onDeath: () => undefined,
  };
}
