import type { RequestRecord } from '@prism-gateway/protocol';
import type { Transport } from '../http/createTransport.ts';
import { joinSignals } from '../http/joinSignals.ts';
import { isEnded, type WaitOptions, waitForRequest } from './waitForRequest.ts';

/** How far many requests have come. */
export interface WaitProgress {
  readonly ended: number;
  readonly total: number;
  /** The record that has just changed. */
  readonly record: RequestRecord;
}

/** How a wait for many goes on and ends; `timeoutMs` is for all of them together. */
export interface WaitForAllOptions extends Omit<WaitOptions, 'onStatus'> {
  /** Told whenever one of the requests has changed its state. */
  readonly onProgress?: ((progress: WaitProgress) => void) | undefined;
}

/**
 * Waits until all of some requests have ended.
 *
 * @returns the records, in the order asked
 * @throws GatewayError WAIT_TIMED_OUT, ABORTED, NOT_FOUND; the first failure ends the wait for all
 */
export async function waitForRequests(
  transport: Transport,
  { requestIds, ...options }: { readonly requestIds: readonly string[] } & WaitForAllOptions,
): Promise<RequestRecord[]> {
  const { onProgress, signal: given, ...rest } = options;
  const stop = new AbortController();
  const signal = joinSignals(stop.signal, given);
  let ended = 0;
  const onStatus = (record: RequestRecord) => {
    if (isEnded(record)) ended++;
    onProgress?.({ ended, total: requestIds.length, record });
  };
  try {
    const waits = requestIds.map((requestId) => waitForRequest(transport, { ...rest, requestId, signal, onStatus }));
    return await Promise.all(waits);
  } finally {
    stop.abort();
  }
}
