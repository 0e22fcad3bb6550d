import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { type Clock, withGlobal } from '@sinonjs/fake-timers';
import { currentProcess, runAs, type SimProcess } from './processes.ts';

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

/** Runs microtasks until none is left. */
const drain = (): Promise<void> => new Promise((resolve) => realImmediate(resolve));

type Callback = (...args: unknown[]) => unknown;

/** A callback that runs as the process that made it, as long as that lives. */
function own(callback: Callback, process: SimProcess | undefined = currentProcess()): Callback {
  if (process === undefined) return callback;
  return (...args) => (process.isAlive ? runAs(process, () => callback(...args)) : undefined);
}

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

/** `node:timers/promises` and `AbortSignal.timeout`, which the library leaves to the machine. @returns puts them back */
function installWaits(): () => void {
  type Wait = { readonly signal?: AbortSignal };
  const kept = { ...timersPromises };
  const timeout = AbortSignal.timeout;
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
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    setTimeout(
      () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      ms,
    );
    return controller.signal;
  };
  return () => {
    Object.assign(timersPromises, kept);
    AbortSignal.timeout = timeout;
  };
}

/**
 * Puts virtual time in place of the machine's clock and timers, for everything in this thread.
 *
 * @param startMs - Unix time in milliseconds at which the world begins
 */
export function installClock(startMs: number): VirtualClock {
  const fake: Clock = withGlobal(globalThis).install({
    now: startMs,
    toFake: [
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'setImmediate',
      'clearImmediate',
      'Date',
      'performance',
    ],
  });
  const plain = {
    setTimeout: globalThis.setTimeout,
    setInterval: globalThis.setInterval,
    setImmediate: globalThis.setImmediate,
  };
  const bind = <F extends (callback: Callback, ...rest: never[]) => unknown>(start: F) =>
    ((callback: Callback, ...rest: never[]) => start(own(callback), ...rest)) as unknown as F;
  Object.assign(globalThis, {
    setTimeout: bind(plain.setTimeout as never),
    setInterval: bind(plain.setInterval as never),
    setImmediate: bind(plain.setImmediate as never),
  });
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
    value: () => ({ idle: fake.now - startMs, active: 0, utilization: 0 }),
  });
  const putBack = installWaits();
  let pending = 0;
  let steps = 0;
  let loads = 0;

  async function settle(): Promise<void> {
    do await drain();
    while (pending > 0);
  }

  /** Lets the machine load modules, while virtual time stands still. @throws Error if nothing comes of it for long */
  async function load(): Promise<void> {
    await new Promise((resolve) => realTimeout(resolve, 1));
    if (++loads > MOST_LOADS) throw new Error('The world has come to rest before this was done.');
  }

  async function step(): Promise<void> {
    loads = 0;
    steps++;
    fake.next();
    await settle();
  }

  return {
    now: () => fake.now,
    async runUntil(atMs) {
      let isDone = false;
      plain.setTimeout(
        () => {
          isDone = true;
        },
        Math.max(0, atMs - fake.now),
      );
      await settle();
      while (!isDone) await step();
    },
    async runUntilSettled(promise, limitMs = 3_600_000) {
      const endsAt = fake.now + limitMs;
      let isDone = false;
      const finish = () => {
        isDone = true;
      };
      promise.then(finish, finish);
      await settle();
      while (!isDone) {
        if (fake.now > endsAt) throw new Error('This was not done within its time.');
        // Modules that are loaded for the first time come from the machine's disk.
        if (fake.countTimers() === 0) await load();
        else await step();
      }
      return await promise;
    },
    at: (delayMs, work) => void plain.setTimeout(work, delayMs),
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
      putBack();
      fake.uninstall();
    },
  };
}
