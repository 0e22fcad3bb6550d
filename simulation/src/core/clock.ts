import { nextTick } from 'node:process';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { installSignals } from './signals.ts';
import { installTimers, TimerQueue } from './timers.ts';

/** Virtual time: it stands still while code runs, and leaps to the next timer when nothing is left to do. */
export interface VirtualClock {
  /** Unix time in milliseconds. */
  now(): number;
  /** Runs the world until a time; events at that very time have happened. */
  runUntil(atMs: number): Promise<void>;
  /** Runs the world until a promise is settled. @throws what the promise throws, and Error if time would pass `limitMs` */
  runUntilSettled<T>(promise: Promise<T>, limitMs?: number): Promise<T>;
  /** Has the world itself, not a process, do something later. */
  at(delayMs: number, work: () => void): void;
  /** Timers that have fired. */
  steps(): number;
  /** Counts work outside virtual time, as real files: time stands still until it is done. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Gives the machine its own clock back. */
  uninstall(): void;
}

/** The machine's own, before virtual time takes their place. */
const { setImmediate: realImmediate, setTimeout: realTimeout } = timers;

/** Milliseconds that modules may take to load. */
const MOST_LOADS = 20_000;

/** Runs microtasks until none is left: Node looks at its queue of ticks only then. */
const drain = (): Promise<void> => new Promise((resolve) => nextTick(resolve));
/** Gives the machine's own event loop a turn. */
const takeTurn = (): Promise<void> => new Promise((resolve) => realImmediate(resolve));
/** Timers that fire in one turn of the machine's event loop: a turn costs more than most of what a timer does. */
const STEPS_A_TURN = 256;

/** Rejects with the signal's reason, and removes its listener once the wait is over. */
function waitFor<T>(start: (done: (value: T) => void) => () => void, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new DOMException('The operation was aborted', 'AbortError'));
    const abort = () => {
      cancel();
      // Node's own has this name and cause.
      reject(
        Object.assign(new Error('The operation was aborted', { cause: signal?.reason }), {
          name: 'AbortError',
          code: 'ABORT_ERR',
        }),
      );
    };
    const cancel = start((value) => {
      signal?.removeEventListener('abort', abort);
      resolve(value);
    });
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Puts the timers of the world in place of `node:timers/promises`. @returns puts Node's back */
function installWaits(): () => void {
  type Wait = { readonly signal?: AbortSignal };
  const kept = { ...timersPromises };
  timersPromises.setTimeout = (<T>(ms?: number, value?: T, { signal }: Wait = {}) =>
    waitFor<T>((done) => {
      const timer = setTimeout(() => done(value as T), ms);
      return () => clearTimeout(timer);
    }, signal)) as typeof timersPromises.setTimeout;
  timersPromises.setImmediate = (<T>(value?: T, { signal }: Wait = {}) =>
    waitFor<T>((done) => {
      const timer = setImmediate(() => done(value as T));
      return () => clearImmediate(timer);
    }, signal)) as typeof timersPromises.setImmediate;
  return () => {
    Object.assign(timersPromises, kept);
  };
}

/**
 * Puts virtual time in place of the machine's clock and timers, for everything in this thread.
 *
 * @param startMs - Unix time in milliseconds at which the world begins
 */
export function installClock(startMs: number): VirtualClock {
  const queue = new TimerQueue(startMs);
  // Each timer is a turn of the event loop of its own.
  Object.defineProperty(globalThis.performance, 'nodeTiming', {
    value: {
      get uvMetricsInfo() {
        return { loopCount: steps, events: 0, eventsWaiting: 0 };
      },
    },
  });
  // Virtual time stands still while code runs: the loop is never busy.
  Object.defineProperty(globalThis.performance, 'eventLoopUtilization', {
    value: () => ({ idle: queue.nowMs - startMs, active: 0, utilization: 0 }),
  });
  const putBack = [installTimers(queue), installWaits(), installSignals()];
  let pending = 0;
  let steps = 0;
  let loads = 0;

  /** Lets all that follows from what has happened happen. Now and then the machine has its turn, for signals and its garbage. */
  async function settle(): Promise<void> {
    await drain();
    if (pending === 0 && steps % STEPS_A_TURN !== 0) return;
    do await takeTurn();
    while (pending > 0);
  }

  /** Lets the machine load modules, while virtual time stands still. @throws Error if nothing comes of it for long */
  async function load(): Promise<void> {
    await new Promise((resolve) => realTimeout(resolve, 1));
    if (++loads > MOST_LOADS) throw new Error('The world has come to rest before this was done.');
  }

  /** @returns false if there is nothing to come */
  async function step(): Promise<boolean> {
    if (!queue.fireNext()) return false;
    loads = 0;
    steps++;
    await settle();
    return true;
  }

  return {
    now: () => queue.nowMs,
    async runUntil(atMs) {
      let isDone = false;
      const stop = () => {
        isDone = true;
      };
      queue.start({ delayMs: Math.max(0, atMs - queue.nowMs), callback: stop, owner: undefined });
      await settle();
      while (!isDone) await step();
    },
    async runUntilSettled(promise, limitMs = 3_600_000) {
      const endsAt = queue.nowMs + limitMs;
      let isDone = false;
      const finish = () => {
        isDone = true;
      };
      promise.then(finish, finish);
      await settle();
      while (!isDone) {
        if (queue.nowMs > endsAt) throw new Error('This was not done within its time.');
        // Modules that are loaded for the first time come from the machine's disk.
        if (!(await step())) await load();
      }
      return await promise;
    },
    at: (delayMs, callback) => void queue.start({ delayMs, callback, owner: undefined }),
    steps: () => steps,
    async track(work) {
      pending++;
      try {
        return await work;
      } finally {
        pending--;
      }
    },
    uninstall() {
      for (const put of putBack) put();
    },
  };
}
