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
 * `Retry-After`. Calls that were told the same `Retry-After` come back spread out.
 *
 * @param policy - the bounds
 * @param state.attempt - attempts made so far, from 1
 * @param state.random - from 0 to 1
 * @param state.retryAfterMs - what the gateway asked, where it did
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
