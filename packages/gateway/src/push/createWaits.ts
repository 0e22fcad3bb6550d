import type { Awaitable } from '../ports/awaitable.ts';
import type { ChangeInterest, RequestChanges } from '../ports/requestChanges.ts';
import type { WaitTiming } from '../ports/waitTiming.ts';
import { createTurns } from './createTurns.ts';

/** The result of a look at the queue. */
export interface Look<T> {
  readonly found: T;
  /** The change to wait for; absent: this is the answer. */
  readonly interest?: ChangeInterest;
  /** When it is worth looking again although nothing has moved, in milliseconds from now. */
  readonly againInMs?: number | undefined;
}

/** A wait for something to look at. */
export interface WaitOrder<T> {
  /** Looks at the queue as it is now. */
  readonly look: () => Awaitable<Look<T>>;
  /** Whose wait it is: a peer, or like `relayer:0x…`. */
  readonly client: string;
  /** Longest wait, in seconds; 0: none. */
  readonly waitSeconds: number;
  /** Aborted once nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  readonly timing: WaitTiming;
}

/** Calls that wait. */
export interface Waits {
  /** Looks until there is an answer, or the time is up, and returns what was found last. @throws TooManyWaitsError */
  until<T>(order: WaitOrder<T>): Promise<T>;
  /** How many wait now. */
  count(): number;
  /** How many were refused so far, because too many waited. */
  refused(): number;
  /** Answers all that wait with what they know, and lets nobody wait any more. */
  end(): void;
  /** Whether somebody may wait still. */
  isOpen(): boolean;
}

/** A pause that ends when the queue may have moved; a change before it begins ends it at once. */
class Pause {
  #isWoken = false;
  #resolve: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  readonly wake = () => {
    this.#isWoken = true;
    this.#end();
  };

  readonly #end = () => {
    clearTimeout(this.#timer);
    this.#resolve?.();
    this.#resolve = undefined;
  };

  /** Waits for `wake`, at most for a time, and is ready for the next one. */
  take(ms: number): Promise<void> | undefined {
    const isWoken = this.#isWoken;
    this.#isWoken = false;
    if (isWoken) return undefined;
    return new Promise<void>((resolve) => {
      this.#resolve = () => {
        this.#isWoken = false;
        resolve();
      };
      this.#timer = setTimeout(this.#end, ms);
    });
  }
}

/** More waits than there may be, of one client or of all. */
export class TooManyWaitsError extends Error {
  override readonly name = 'TooManyWaitsError';
  readonly code = 'TOO_MANY_WAITS';

  constructor() {
    super('Too many calls wait already; ask without wait, or again in a moment.');
  }
}

/** How many may wait, and when those that wake up may answer. */
export interface WaitBounds {
  /** Most waits of all, and of one client; 0: any number. */
  readonly most: number;
  readonly mostOfClient: number;
  /** Whether answers that have been written leave room for more; absent: always. */
  readonly hasRoom?: (() => boolean) | undefined;
}

/** The answer, or how long to sleep, in milliseconds. */
type Next<T> = { readonly found: T } | number;

/**
 * Makes the waits of a process, as many as the bounds allow. Those that wake up together look and answer in slices: each watches first, then looks, and sleeps only if nothing has moved between. While nothing moves, one
 * costs a few objects and no work; above all it keeps nothing of what it has found, for a stranger may have ten thousand wait for a
 * request of the largest size.
 *
 * @see docs/specification.md LIMIT-19
 */
export function createWaits(changes: RequestChanges, { most, mostOfClient, hasRoom = () => true }: WaitBounds): Waits {
  const takeTurn = createTurns(hasRoom);
  const counts = new Map<string, number>();
  let refused = 0;
  /** Wakes those that wait. */
  const waiting = new Set<() => void>();
  let isEnding = false;

  async function lookOn<T>({ look, signal }: WaitOrder<T>, endsAt: number): Promise<Next<T>> {
    const { found, interest, againInMs } = await look();
    const leftMs = endsAt - performance.now();
    if (interest === undefined || leftMs <= 0 || isEnding || signal.aborted) return { found };
    // A timer counts whole milliseconds, and may be early by a part of one.
    return Math.ceil(Math.min(leftMs, againInMs ?? leftMs));
  }

  /** @returns takes the place away again @throws TooManyWaitsError */
  function takePlace(client: string): () => void {
    const count = counts.get(client) ?? 0;
    if ((most > 0 && waiting.size >= most) || (mostOfClient > 0 && count >= mostOfClient)) {
      refused += 1;
      throw new TooManyWaitsError();
    }
    counts.set(client, count + 1);
    return () => {
      const left = (counts.get(client) ?? 1) - 1;
      if (left === 0) counts.delete(client);
      else counts.set(client, left);
    };
  }

  async function waitOn<T>(order: WaitOrder<T>, interest: ChangeInterest): Promise<T> {
    const leave = takePlace(order.client);
    const pause = new Pause();
    const unwatch = changes.watch(interest, pause.wake);
    order.signal.addEventListener('abort', pause.wake, { once: true });
    waiting.add(pause.wake);
    const endsAt = performance.now() + order.waitSeconds * 1000;
    try {
      // A look's result is dropped before the sleep begins.
      for (;;) {
        const next = await lookOn(order, endsAt);
        if (typeof next !== 'number') return next.found;
        const sleptAt = performance.now();
        await pause.take(next);
        await takeTurn();
        order.timing.waitedMs += performance.now() - sleptAt;
      }
    } finally {
      leave();
      waiting.delete(pause.wake);
      order.signal.removeEventListener('abort', pause.wake);
      unwatch();
    }
  }

  function begin<T>(order: WaitOrder<T>, { found, interest }: Look<T>): Promise<T> | T {
    if (interest === undefined || order.waitSeconds === 0 || isEnding) return found;
    return waitOn(order, interest);
  }

  return {
    // No frame of its own stays, which would keep what the first look has found.
    until: (order) => Promise.resolve(order.look()).then((look) => begin(order, look)),
    count: () => waiting.size,
    isOpen: () => !isEnding,
    refused: () => refused,
    end() {
      isEnding = true;
      for (const wake of [...waiting]) wake();
    },
  };
}
