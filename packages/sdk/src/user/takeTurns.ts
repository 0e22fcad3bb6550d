/** Lets one at a time through, in the order of asking. */
export type Turns = <T>(act: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * Makes a queue of turns.
 *
 * @returns a function that runs an act once all earlier ones have ended; it throws the signal's reason at once when that fires
 * before. An act under way sees its signal for itself, and knows how far it has come.
 */
export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (act, signal) =>
    new Promise((resolve, reject) => {
      const giveUp = () => reject(signal?.reason);
      signal?.addEventListener('abort', giveUp);
      const turn = last.then(() => {
        signal?.throwIfAborted();
        signal?.removeEventListener('abort', giveUp);
        return act();
      });
      last = turn.then(resolve, reject);
    });
}
