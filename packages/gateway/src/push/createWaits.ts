import type { Awaitable } from '../ports/awaitable.ts';
import type { ChangeInterest, RequestChanges } from '../ports/requestChanges.ts';

/** What a look at the queue has found. */
export interface Look<T> {
  readonly found: T;
  /** What to wait for; absent: this is the answer. */
  readonly interest?: ChangeInterest;
  /** When it is worth looking again although nothing has moved, in milliseconds from now. */
  readonly againInMs?: number | undefined;
}

/** A wait for something to look at. */
export interface WaitOrder<T> {
  /** Looks at the queue as it is now. */
  readonly look: () => Awaitable<Look<T>>;
  /** Longest wait, in seconds; 0: none. */
  readonly waitSeconds: number;
  /** Aborted once nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Calls that wait. */
export interface Waits {
  /** Looks until there is an answer, or the time is up, and returns what was found last. */
  until<T>(order: WaitOrder<T>): Promise<T>;
  /** Answers all that wait with what they know, and lets nobody wait any more. */
  end(): void;
}

/** A pause that ends when the queue may have moved; a change before it begins ends it at once. */
class Pause {
  #isWoken = false;
  #resolve: (() => void) | undefined;

  readonly wake = () => {
    this.#isWoken = true;
    this.#resolve?.();
  };

  /** Waits for `wake`, at most for a time, and is ready for the next one. */
  async take(ms: number): Promise<void> {
    if (!this.#isWoken) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
        timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
    }
    this.#resolve = undefined;
    this.#isWoken = false;
  }
}

/**
 * Makes the waits of a process: each watches first, then looks, and sleeps only if nothing has moved between. While nothing moves, one
 * costs a few objects and no work.
 */
export function createWaits(changes: RequestChanges): Waits {
  /** Wakes those that wait. */
  const waiting = new Set<() => void>();
  let isEnding = false;

  async function waitOn<T>(order: WaitOrder<T>, interest: ChangeInterest): Promise<T> {
    const pause = new Pause();
    const unwatch = changes.watch(interest, pause.wake);
    order.signal.addEventListener('abort', pause.wake, { once: true });
    waiting.add(pause.wake);
    const endsAt = performance.now() + order.waitSeconds * 1000;
    try {
      for (;;) {
        const look = await order.look();
        const leftMs = endsAt - performance.now();
        if (look.interest === undefined || leftMs <= 0 || isEnding || order.signal.aborted) return look.found;
        // A timer counts whole milliseconds, and may be early by a part of one.
        await pause.take(Math.ceil(Math.min(leftMs, look.againInMs ?? leftMs)));
      }
    } finally {
      waiting.delete(pause.wake);
      order.signal.removeEventListener('abort', pause.wake);
      unwatch();
    }
  }

  return {
    async until(order) {
      const { found, interest } = await order.look();
      if (interest === undefined || order.waitSeconds === 0 || isEnding) return found;
      return await waitOn(order, interest);
    },
    end() {
      isEnding = true;
      for (const wake of [...waiting]) wake();
    },
  };
}
