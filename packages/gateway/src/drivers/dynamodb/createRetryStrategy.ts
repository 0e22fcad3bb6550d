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
  /** Longest pause before the second try, in milliseconds; it doubles with each, up to `longestPauseMs`. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** A call that has taken longer than this is not tried again, in milliseconds. */
  readonly patienceMs: number;
  /** Further tries that all calls together may owe: each takes one, each call that succeeds gives back what it took, or one. */
  readonly budget: number;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
}

/** A write met a transaction on the same item, which ends by itself. It is no client's fault, though told as one. */
const PASSING = 'TransactionConflictException';

/** Carries how many further tries a call has had. */
function createToken(retries: number, pauseMs: number): Token {
  return { getRetryCount: () => retries, getRetryDelay: () => pauseMs };
}

/**
 * Makes a strategy that tries again whatever may go better: cut lines, timeouts, throttling, errors of the server. Pauses are
 * random, so that clients that failed together do not come back together.
 *
 * The SDK's own strategies stop trying again once some 35 calls failed at once, and leave the others without knowing whether they
 * were done. Here that budget is larger: a claim of which the answer was lost is asked again, and finds that it was won. What fails
 * at once is tried more often than what fails by silence: the time is bounded, too.
 *
 * @returns a strategy for one client
 */
export function createRetryStrategy(options: RetryOptions): RetryStrategy {
  const { maxAttempts, firstPauseMs, longestPauseMs, patienceMs, budget, now } = options;
  let left = budget;
  /** When the call of a token began. */
  const begunAt = new WeakMap<Token, number>();

  function startToken(retries: number, pauseMs: number, callBegunAt: number): Token {
    const token = createToken(retries, pauseMs);
    begunAt.set(token, callBegunAt);
    return token;
  }

  return {
    acquireInitialRetryToken: async () => startToken(0, 0, now()),
    async refreshRetryTokenForRetry(token, { errorType, error }) {
      const retries = token.getRetryCount() + 1;
      const callBegunAt = begunAt.get(token) ?? now();
      if (errorType === 'CLIENT_ERROR' && error?.name !== PASSING) throw new Error('trying again would change nothing');
      if (retries >= maxAttempts) throw new Error('tried often enough');
      if (now() - callBegunAt > patienceMs) throw new Error('tried long enough');
      if (left === 0) throw new Error('too many calls are being tried again');
      left--;
      const longestMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (retries - 1));
      return startToken(retries, Math.random() * longestMs, callBegunAt);
    },
    recordSuccess(token) {
      left = Math.min(budget, left + Math.max(1, token.getRetryCount()));
    },
  };
}
