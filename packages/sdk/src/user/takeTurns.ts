import { abortedError } from '../errors/fromFailure.ts';

/** Lets one at a time through, in the order of asking. */
export type Turns = <T>(act: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * Makes a queue of turns.
 *
 * @returns a function that runs an act once all earlier ones have ended; it throws GatewayError ABORTED at once where the signal
 * fires before. An act under way sees its signal for itself, and knows how far it has come.
 */
export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (act, signal) =>
    new Promise((resolve, reject) => {
      const giveUp = () => signal?.aborted && reject(abortedError('The wait for a turn to sign', signal, false));
      giveUp();
      signal?.addEventListener('abort', giveUp);
      last = last.then(async () => {
        signal?.removeEventListener('abort', giveUp);
        // Whoever has given up has been told so.
        if (!signal?.aborted) await act().then(resolve, reject);
      });
    });
}
