import { abortedError } from '../errors/gatewayError.ts';

/**
 * Waits for what knows of no signal, such as a wallet that asks its user; the wait ends when the signal fires.
 *
 * @param what - in words, for the error
 * @throws GatewayError ABORTED, with `mayHaveHappened` false: what comes of it later is not used; and what `act` throws
 */
export function untilAborted<T>(what: string, act: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => signal?.aborted && reject(abortedError(what, signal, false));
    giveUp();
    signal?.addEventListener('abort', giveUp);
    act.then(resolve, reject).finally(() => signal?.removeEventListener('abort', giveUp));
  });
}

/** The longest that a timer takes; for more it ends at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Waits.
 *
 * @param delayMs - milliseconds; more than 24 days are 24 days
 * @param signal - ends the wait early; ask it why
 */
export function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal?.aborted ? 0 : Math.min(delayMs, LONGEST_MS));
    signal?.addEventListener('abort', end);
  });
}

/**
 * Joins a caller's signal with one of our own.
 *
 * @param own - such as a time limit
 * @param given - the caller's, if any
 * @returns a signal that fires when either does
 */
export function joinSignals(own: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? own : AbortSignal.any([given, own]);
}
