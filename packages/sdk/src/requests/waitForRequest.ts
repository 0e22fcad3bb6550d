import type { RequestRecord, RequestStatus } from '@prism-gateway/protocol';
import { abortedError } from '../errors/fromFailure.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { sleep } from '../http/sleep.ts';
import type { Transport } from '../http/transport.ts';
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

interface Poll {
  readonly transport: Transport;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly pollIntervalMs: number;
  readonly onStatus: (record: RequestRecord) => void;
}

/** Looks once. @returns undefined where the gateway could not be reached: the wait outlives a restart of it */
async function look({ transport, requestId, signal }: Poll): Promise<RequestRecord | undefined> {
  try {
    return await getRequest(transport, { requestId, signal });
  } catch (error) {
    if (error instanceof GatewayError && isTransient(error)) return undefined;
    throw error;
  }
}

async function pollUntilEnded(poll: Poll): Promise<RequestRecord> {
  let seen: RequestStatus | undefined;
  for (;;) {
    const record = await look(poll);
    if (record !== undefined && record.status !== seen) {
      seen = record.status;
      poll.onStatus(record);
    }
    if (record !== undefined && isEnded(record)) return record;
    await sleep(poll.pollIntervalMs, poll.signal);
  }
}

/**
 * Waits until a relayer has reported how a request ended.
 *
 * @param transport - the way to the gateway
 * @param wait.requestId - UUID
 * @returns the record, `success` or `failed`: a request that failed is an answer, not an error
 * @throws GatewayError WAIT_TIMED_OUT, ABORTED, NOT_FOUND
 */
export async function waitForRequest(
  transport: Transport,
  { requestId, ...options }: { readonly requestId: string } & WaitOptions,
): Promise<RequestRecord> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const limit = AbortSignal.timeout(timeoutMs);
  const { signal: given } = options;
  const signal = given === undefined ? limit : AbortSignal.any([given, limit]);
  const poll = {
    transport,
    requestId,
    signal,
    pollIntervalMs: options.pollIntervalMs ?? DEFAULT_POLL_INTERVAL_MS,
    onStatus: options.onStatus ?? (() => undefined),
  };
  try {
    return await pollUntilEnded(poll);
  } catch (error) {
    const what = `The wait for request ${requestId}`;
    if (given?.aborted) throw abortedError(what, given, false);
    if (!limit.aborted) throw error;
    const message = `${what} ended after ${timeoutMs} ms without an outcome; the request itself goes on.`;
    throw new GatewayError({ code: 'WAIT_TIMED_OUT', message, cause: error });
  }
}
