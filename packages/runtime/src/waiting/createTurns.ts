import { createSemaphore, type Semaphore } from './createSemaphore.ts';

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
