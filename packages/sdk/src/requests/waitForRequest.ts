import type { RequestRecord, RequestStatus } from '@prism-gateway/protocol';
import { abortedError, GatewayError, isGatewayError } from '../errors/gatewayError.ts';
import { choosePause } from '../http/choosePause.ts';
import type { Transport } from '../http/createTransport.ts';
import { joinSignals, sleep } from '../http/signals.ts';
import { isTransient } from '../http/withRetries.ts';
import { getRequest, type RequestLook } from './getRequest.ts';

/** How a wait goes on and ends. */
export interface WaitOptions {
  /** Ends the wait, never the request. */
  readonly signal?: AbortSignal | undefined;
  /** Longest wait, in milliseconds; default 600000 (10 minutes). */
  readonly timeoutMs?: number | undefined;
  /** Least time between two looks that find the same, in milliseconds; default 1000. A gateway that lets calls wait is not asked so often. */
  readonly pollIntervalMs?: number | undefined;
  /** Called with each new state, the first one included. */
  readonly onStatus?: ((record: RequestRecord) => void) | undefined;
}

const DEFAULT_TIMEOUT_MS = 600_000;
const DEFAULT_POLL_INTERVAL_MS = 1000;
/** Longest pause between two looks at a gateway that lets none wait, in milliseconds. */
const LONGEST_PAUSE_MS = 5000;

/** A relayer's report is the end: both are final. */
export function isEnded<T extends { readonly status: RequestStatus }>(
  record: T,
): record is T & { readonly status: 'success' | 'failed' } {
  return record.status === 'success' || record.status === 'failed';
}

/** Looks at a request, and lets the gateway wait until its status is another one, if there is a connection to spare for that. */
async function look(transport: Transport, { seen, ...order }: RequestLook): Promise<RequestRecord> {
  const { waits } = transport;
  if (seen === undefined || waits.open >= waits.most) return await getRequest(transport, order);
  waits.open++;
  try {
    return await getRequest(transport, { ...order, seen, wait: waits.seconds });
  } finally {
    waits.open--;
  }
}

/**
 * Waits until a relayer has reported how a request ended. A gateway that cannot be reached for a while, or has a page of something else in
 * front of it, does not end the wait; one that says when to come again is not asked before.
 *
 * @param transport - the way to the gateway
 * @param wait.requestId - UUID
 * @returns the record, `success` or `failed`: a request that failed is an answer, not an error
 * @throws GatewayError WAIT_TIMED_OUT, ABORTED, NOT_FOUND; UNEXPECTED_ANSWER to the first look
 */
export async function waitForRequest(
  transport: Transport,
  wait: { readonly requestId: string } & WaitOptions,
): Promise<RequestRecord> {
  const { requestId, timeoutMs = DEFAULT_TIMEOUT_MS, pollIntervalMs = DEFAULT_POLL_INTERVAL_MS } = wait;
  const { signal: given, onStatus } = wait;
  const signal = joinSignals(AbortSignal.timeout(timeoutMs), given);
  const what = `The wait for request ${requestId}`;
  let last: RequestRecord | undefined;
  const passed = new Set<RequestStatus>();
  /** Looks that found the same. */
  let quiet = 0;
  while (!signal.aborted) {
    const askedAtMs = transport.now();
    let leastMs = pollIntervalMs;
    let askAgainMs: number | undefined;
    const onAskAgain = (afterMs?: number) => {
      askAgainMs = afterMs;
    };
    const record = await look(transport, { requestId, seen: last?.status, signal, onAskAgain }).catch(
      (error: unknown) => {
        // Once there was a record, what is no gateway's answer comes from something in front of it: a page that says "back soon".
        const goesOn = isTransient(error) || (last && isGatewayError(error, 'UNEXPECTED_ANSWER'));
        if (!signal.aborted && !goesOn) throw error;
        leastMs += Object(error).retryAfterMs ?? 0;
      },
    );
    if (record && record.status !== last?.status) {
      last = record;
      onStatus?.(record);
      if (isEnded(record)) return record;
      // The next look may wait at the gateway. What goes back and forth is not followed any faster.
      if (!passed.has(record.status)) leastMs = 0;
      passed.add(record.status);
      quiet = 0;
    } else if (askAgainMs !== undefined)
      leastMs = Math.max(leastMs, choosePause(askAgainMs, { quiet: quiet++, longestMs: LONGEST_PAUSE_MS }));
    // One that has waited there has lasted longer than this.
    await sleep(Math.min(leastMs, Math.max(0, askedAtMs + leastMs - transport.now())), signal);
  }
  if (given?.aborted) throw abortedError(what, given, false);
  const message = `${what} ended after ${timeoutMs} ms; it goes on.${last ? hintAt(last) : ''}`;
  throw new GatewayError({ kind: 'WAIT_TIMED_OUT', message });
}

/** By how much a timestamp may be after the request was posted, in seconds, before the clock that signed it is named. */
const MAX_AHEAD_SECONDS = 60;

/** The likeliest reason for which nobody has claimed a request. */
function hintAt({ status, params, createdAt }: RequestRecord): string {
  if (status !== 'pending') return '';
  const aheadSeconds = Math.floor(Number(params.timestamp) - Date.parse(createdAt) / 1000);
  return aheadSeconds > MAX_AHEAD_SECONDS
    ? ` Was it signed by a clock that is ${aheadSeconds} s ahead?`
    : ' Does its fee pay? See quoteFee.';
}

/** How far many requests have come. */
export interface WaitProgress {
  readonly ended: number;
  readonly total: number;
  /** The record that has just changed. */
  readonly record: RequestRecord;
}

/** How a wait for many goes on and ends; `timeoutMs` is for all of them together. */
export interface WaitForAllOptions extends Omit<WaitOptions, 'onStatus'> {
  /** Called whenever one of the requests has changed its state. */
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
