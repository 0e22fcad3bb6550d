import type { RequestRecord, RequestStatus } from '@prism-gateway/protocol';
import { abortedError } from '../errors/errorFromFailure.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Transport } from '../http/createTransport.ts';
import { joinSignals } from '../http/joinSignals.ts';
import { sleep } from '../http/sleep.ts';
import { isTransient } from '../http/withRetries.ts';
import { getRequest } from './getRequest.ts';

/** How a wait goes on and ends. */
export interface WaitOptions {
  /** Ends the wait, never the request. */
  readonly signal?: AbortSignal | undefined;
  /** Longest wait, in milliseconds; default 600000 (10 minutes). */
  readonly timeoutMs?: number | undefined;
  /** Time between two looks, in milliseconds; default 1000. */
  readonly pollIntervalMs?: number | undefined;
  /** Told of each new state, the first one included. */
  readonly onStatus?: ((record: RequestRecord) => void) | undefined;
}

const DEFAULT_TIMEOUT_MS = 600_000;
const DEFAULT_POLL_INTERVAL_MS = 1000;

/** A relayer's report is the end: both are final. */
export function isEnded({ status }: { readonly status: RequestStatus }): boolean {
  return status === 'success' || status === 'failed';
}

/**
 * Waits until a relayer has reported how a request ended. A gateway that cannot be reached for a while does not end
 * the wait; one that says when to come again is not asked before.
 *
 * @param transport - the way to the gateway
 * @param wait.requestId - UUID
 * @returns the record, `success` or `failed`: a request that failed is an answer, not an error
 * @throws GatewayError WAIT_TIMED_OUT, ABORTED, NOT_FOUND
 */
export async function waitForRequest(
  transport: Transport,
  wait: { readonly requestId: string } & WaitOptions,
): Promise<RequestRecord> {
  const { requestId, timeoutMs = DEFAULT_TIMEOUT_MS, pollIntervalMs = DEFAULT_POLL_INTERVAL_MS } = wait;
  const { signal: given, onStatus } = wait;
  const signal = joinSignals(AbortSignal.timeout(timeoutMs), given);
  const what = `The wait for request ${requestId}`;
  let seen: RequestStatus | undefined;
  while (!signal.aborted) {
    let pauseMs = pollIntervalMs;
    const record = await getRequest(transport, { requestId, signal }).catch((error: unknown) => {
      if (!signal.aborted && !isTransient(error)) throw error;
      pauseMs = Math.max(pauseMs, Object(error).retryAfterMs ?? 0);
    });
    if (record && record.status !== seen) {
      seen = record.status;
      onStatus?.(record);
    }
    if (record && isEnded(record)) return record;
    await sleep(pauseMs, signal);
  }
  if (given?.aborted) throw abortedError(what, given, false);
  const message = `${what} ended after ${timeoutMs} ms without an outcome; the request itself goes on.`;
  throw new GatewayError({ code: 'WAIT_TIMED_OUT', message });
}
