/** Lets one at a time through, in the order of asking. */
export type Turns = <T>(act: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Rejects as soon as the signal fires, whatever the act is waiting for. */
async function untilAborted<T>(turn: Promise<T>, hasBegun: () => boolean, signal: AbortSignal): Promise<T> {
  const gaveUp = Promise.withResolvers<never>();
  // An act under way sees the signal for itself, and knows how far it has come.
  const stop = () => hasBegun() || gaveUp.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([turn, gaveUp.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * Makes a queue of turns.
 *
 * @returns a function that runs an act once all earlier ones have ended; it throws the signal's reason when that fires before
 */
export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (act, signal) => {
    let hasBegun = false;
    const turn = last.then(() => {
      signal?.throwIfAborted();
      hasBegun = true;
      return act();
    });
    last = turn.catch(() => undefined);
    return signal === undefined ? turn : untilAborted(turn, () => hasBegun, signal);
  };
}
