import { abortedError } from '../errors/errorFromFailure.ts';

/**
 * Waits for what knows of no signal, such as a wallet that asks its user; the wait ends where the signal fires.
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
