import { abortedError } from '../errors/fromFailure.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { chooseDelay, type RetryPolicy } from './retryPolicy.ts';
import { sleep } from './sleep.ts';

/** What repeats of a call depend on. */
export interface RetryContext {
  readonly policy: RetryPolicy;
  /** @returns from 0 to 1, for jitter */
  readonly random: () => number;
  /** The call in words, for the error when it is aborted in a pause. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
  /** Tells whether a failure is worth, and safe for, another attempt. */
  readonly canRepeat: (error: GatewayError) => boolean;
}

/** Failures that pass by themselves. */
export function isTransient(error: GatewayError): boolean {
  return error.code === 'RATE_LIMITED' || error.code === 'UNAVAILABLE' || error.code === 'NETWORK_FAILED';
}

async function pause(context: RetryContext, delayMs: number, error: GatewayError): Promise<void> {
  const { signal, what } = context;
  try {
    await sleep(delayMs, signal);
  } catch (reason) {
    if (signal?.aborted) throw abortedError(what, signal, error.mayHaveHappened);
    throw reason;
  }
}

/**
 * Makes attempts until one succeeds, one fails for good, or the policy's number is reached.
 *
 * @param attempt - one attempt, told its number from 1; it throws `GatewayError`
 * @returns what the first success gave
 * @throws GatewayError of the last attempt, or `ABORTED`
 */
export async function withRetries<T>(context: RetryContext, attempt: (number: number) => Promise<T>): Promise<T> {
  for (let number = 1; ; number++) {
    if (context.signal?.aborted) throw abortedError(context.what, context.signal, number > 1);
    try {
      return await attempt(number);
    } catch (error) {
      if (!(error instanceof GatewayError) || number >= context.policy.attempts || !context.canRepeat(error))
        throw error;
      const { retryAfterMs } = error;
      const delayMs = chooseDelay(context.policy, { attempt: number, random: context.random(), retryAfterMs });
      if (delayMs === undefined) throw error;
      await pause(context, delayMs, error);
    }
  }
}
