import { untilAborted } from '../http/untilAborted.ts';

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
  return (act, signal) => {
    const turn = untilAborted('The wait for a turn to sign', last, signal).then(act);
    // Whoever has given up leaves those before in their turn; `then` lets go of their results.
    last = Promise.allSettled([last, turn]).then(() => {});
    return turn;
  };
}
