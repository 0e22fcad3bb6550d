import type { Hints } from './followShard.ts';

/** Wakes up whoever waits. */
function createBell() {
  const waiting = new Set<() => void>();
  return {
    ring(): void {
      for (const wake of [...waiting]) wake();
    },
    async wait(ms: number, signal: AbortSignal): Promise<void> {
      if (signal.aborted) return;
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', wake);
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        signal.addEventListener('abort', wake);
        waiting.add(wake);
      });
    },
  };
}

/** Hints of one process: that it has moved something, and that it may look for shards. */
export interface FollowerHints extends Hints {
  hint(): void;
  look(): void;
  waitForLook(ms: number, signal: AbortSignal): Promise<void>;
}

/** Makes them. */
export function createHints(): FollowerHints {
  const [moves, looks] = [createBell(), createBell()];
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    lastAt: () => lastAt,
    wait: moves.wait,
    hint() {
      lastAt = performance.now();
      moves.ring();
    },
    look: looks.ring,
    waitForLook: looks.wait,
  };
}
