import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/** How the AWS SDK wants to be told whether, and when, to try again. */
export type RetryStrategy = Extract<
  NonNullable<DynamoDBClientConfig['retryStrategy']>,
  { readonly acquireInitialRetryToken: unknown }
>;
type Token = Awaited<ReturnType<RetryStrategy['acquireInitialRetryToken']>>;

export interface RetryOptions {
  /** Tries of one call, the first among them. */
  readonly maxAttempts: number;
  /** Longest pause before the second try, in milliseconds; it doubles with each. */
  readonly firstPauseMs: number;
  /** Further tries that all calls together may owe: each takes one, each call that succeeds gives back what it took, or one. */
  readonly budget: number;
}

/** Carries how many further tries a call has had. */
function createToken(retries: number, pauseMs: number): Token {
  return { getRetryCount: () => retries, getRetryDelay: () => pauseMs };
}

/**
 * Makes a strategy that tries again whatever may go better: cut lines, timeouts, throttling, errors of the server. Pauses are
 * random, so that clients that failed together do not come back together.
 *
 * The SDK's own strategies stop trying again once some 35 calls failed at once, and leave the others without knowing whether they
 * were done. Here that budget is larger: a claim of which the answer was lost is asked again, and finds that it was won.
 *
 * @returns a strategy for one client
 */
export function createRetryStrategy({ maxAttempts, firstPauseMs, budget }: RetryOptions): RetryStrategy {
  let left = budget;
  return {
    acquireInitialRetryToken: async () => createToken(0, 0),
    async refreshRetryTokenForRetry(token, { errorType }) {
      const retries = token.getRetryCount() + 1;
      if (errorType === 'CLIENT_ERROR') throw new Error('trying again would change nothing');
      if (retries >= maxAttempts) throw new Error('tried often enough');
      if (left === 0) throw new Error('too many calls are being tried again');
      left--;
      return createToken(retries, Math.random() * firstPauseMs * 2 ** (retries - 1));
    },
    recordSuccess(token) {
      left = Math.min(budget, left + Math.max(1, token.getRetryCount()));
    },
  };
}
