import { abortedError, GatewayError, isGatewayError } from '../errors/gatewayError.ts';
import { sleep } from './signals.ts';

/** How attempts are spaced. */
export interface RetryContext {
  readonly policy: RetryPolicy;
  /** @returns from 0 to 1, for jitter */
  readonly random: () => number;
}

/** The calls to repeat, and when. */
export interface Repeats {
  /** The call in words, for the error when it is aborted in a pause. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
  /** Whether a failure is worth, and safe for, another attempt. */
  readonly canRepeat: (error: GatewayError) => boolean;
}

/** Whether a failure passes by itself. */
export function isTransient(error: unknown): boolean {
  return isGatewayError(error, 'RATE_LIMITED', 'UNAVAILABLE', 'NETWORK_FAILED');
}

/**
 * Makes attempts until one succeeds, one fails for good, or the policy's number is reached.
 *
 * @param transport - its retry policy, and its chance for jitter
 * @param repeats - see each field
 * @param attempt - one attempt; it throws `GatewayError`
 * @returns what the first success gave
 * @throws GatewayError of the last attempt, or ABORTED; its `mayHaveHappened` is true if any attempt's was: the last one may
 * know nothing of an earlier one whose answer was lost
 */
export async function withRetries<T>(
  { policy, random }: RetryContext,
  { what, signal, canRepeat }: Repeats,
  attempt: () => Promise<T>,
): Promise<T> {
  let mayHaveHappened = false;
  for (let number = 1; ; number++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      mayHaveHappened ||= error.mayHaveHappened;
      const { retryAfterMs } = error;
      const delayMs =
        number < policy.attempts && canRepeat(error)
          ? chooseDelay(policy, { attempt: number, random: random(), retryAfterMs })
          : undefined;
      if (delayMs === undefined) throw Object.assign(error, { mayHaveHappened });
      await sleep(delayMs, signal);
      if (signal?.aborted) throw abortedError(what, signal, mayHaveHappened);
    }
  }
}

/** How often and how patiently calls are repeated. */
export interface RetryPolicy {
  /** Most attempts of one call, the first included; 1 = no repeats. */
  readonly attempts: number;
  /** Longest wait before the second attempt, in milliseconds; it doubles with each further one. */
  readonly baseDelayMs: number;
  /** Longest wait of the back-off, in milliseconds. */
  readonly maxDelayMs: number;
  /** Longest `Retry-After` that is waited out, in milliseconds; a longer one is the caller's to decide. */
  readonly maxRetryAfterMs: number;
}

/** 5 attempts: about 3 s of back-off in all, and a minute's `Retry-After` (the gateway's window) is waited out. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  attempts: 5,
  baseDelayMs: 200,
  maxDelayMs: 5000,
  maxRetryAfterMs: 60_000,
};

/**
 * Chooses how long to wait before the next attempt: between half and all of a doubling back-off, and never before
 * `Retry-After`. Calls that got the same `Retry-After` come back spread out.
 *
 * @param policy - the bounds
 * @param state.attempt - attempts made so far, from 1
 * @param state.random - from 0 to 1
 * @param state.retryAfterMs - what the gateway asked, if it did
 * @returns milliseconds; undefined when the gateway asks for more than the policy waits
 */
export function chooseDelay(
  policy: RetryPolicy,
  state: { readonly attempt: number; readonly random: number; readonly retryAfterMs?: number | undefined },
): number | undefined {
  const { attempt, random, retryAfterMs = 0 } = state;
  if (retryAfterMs > policy.maxRetryAfterMs) return undefined;
  const backOffMs = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempt - 1));
  return retryAfterMs + backOffMs * (0.5 + random / 2);
}
