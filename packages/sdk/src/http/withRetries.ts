import { abortedError } from '../errors/errorFromFailure.ts';
import { GatewayError, isGatewayError } from '../errors/gatewayError.ts';
import { chooseDelay, type RetryPolicy } from './retryPolicy.ts';
import { sleep } from './sleep.ts';

/** How attempts are spaced. */
export interface RetryContext {
  readonly policy: RetryPolicy;
  /** @returns from 0 to 1, for jitter */
  readonly random: () => number;
}

/** What is repeated, and when. */
export interface Repeats {
  /** The call in words, for the error when it is aborted in a pause. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
  /** Tells whether a failure is worth, and safe for, another attempt. */
  readonly canRepeat: (error: GatewayError) => boolean;
}

/** Tells whether a failure passes by itself. */
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
 * @throws GatewayError of the last attempt, or ABORTED; its `mayHaveHappened` is true where any attempt's was: the last one may
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
