/** The right to be one of those under way; whoever has it gives it back. */
export interface Permit {
  /** Gives it back; a second call does nothing. */
  release(): void;
}

/** Bounds how many are under way at once. */
export interface Semaphore {
  /**
   * Waits for a permit, in the order of asking.
   *
   * @throws the signal's reason
   */
  acquire(signal?: AbortSignal): Promise<Permit>;
  /**
   * Runs an act under a permit.
   *
   * @param signal - gives the wait for the permit up; an act under way sees it for itself
   * @returns what the act returns
   * @throws what the act throws, or the signal's reason
   */
  run<Result>(act: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

/**
 * Creates a semaphore.
 *
 * @param limit - most permits at once, at least 1
 * @example
 * const limited = createSemaphore(4);
 * await Promise.all(files.map((file) => limited.run(() => upload(file))));
 */
export function createSemaphore(limit: number): Semaphore {
  let free = limit;
  const waiting = new Set<() => void>();

  function createPermit(): Permit {
    let isHeld = true;
    return {
      release() {
        if (!isHeld) return;
        isHeld = false;
        const [next] = waiting;
        if (next === undefined) free += 1;
        else next();
      },
    };
  }

  function waitForPermit(signal: AbortSignal | undefined): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(enter);
        signal?.removeEventListener('abort', giveUp);
      };
      const enter = () => {
        leave();
        resolve(createPermit());
      };
      const giveUp = () => {
        leave();
        reject(signal?.reason);
      };
      waiting.add(enter);
      signal?.addEventListener('abort', giveUp);
    });
  }

  async function acquire(signal?: AbortSignal): Promise<Permit> {
    signal?.throwIfAborted();
    if (free === 0) return waitForPermit(signal);
    free -= 1;
    return createPermit();
  }

  return {
    acquire,
    async run(act, signal) {
      const permit = await acquire(signal);
      try {
        return await act();
      } finally {
        permit.release();
      }
    },
  };
}

/** Runs acts one at a time, in the order of the calls. */
export type Turns = Semaphore['run'];

/**
 * Makes a queue of turns.
 *
 * @returns a function that runs an act once all earlier ones have ended, however they ended; it returns what the act returns, or
 * throws what it throws. A signal gives the wait up, and those behind go on.
 * @example
 * const inTurn = createTurns();
 * await Promise.all([inTurn(() => write('first')), inTurn(() => write('second'))]);
 */
export function createTurns(): Turns {
  return createSemaphore(1).run;
}
