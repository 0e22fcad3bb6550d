import { type ConsumedCapacity, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/** Units that calls have consumed, as the engine counts them; those of indexes are among them. */
export interface CapacityMeter {
  readonly reads: number;
  readonly writes: number;
  /** Calls; DynamoDB returns no units for those that it refuses. */
  readonly calls: number;
  reset(): void;
  /** Gives the sums, and begins anew. */
  take(): { readonly reads: number; readonly writes: number };
}

const writeCommands = new Set(['PutItemCommand', 'UpdateItemCommand', 'DeleteItemCommand']);
const readCommands = new Set(['GetItemCommand', 'QueryCommand', 'ScanCommand', 'BatchGetItemCommand']);

interface Answered {
  readonly ConsumedCapacity?: ConsumedCapacity | readonly ConsumedCapacity[];
}

/** Has a client ask what each call consumed, and adds it up. @returns the sums since the last reset */
export function meterCapacity(client: DynamoDBClient): CapacityMeter {
  const none = { reads: 0, writes: 0, calls: 0 };
  const meter = {
    ...none,
    reset: () => void Object.assign(meter, none),
    take() {
      const { reads, writes } = meter;
      meter.reset();
      return { reads, writes };
    },
  };
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (call) => {
        const isWrite = writeCommands.has(commandName);
        if (!isWrite && !readCommands.has(commandName)) return await next(call);
        meter.calls++;
        const result = await next({ ...call, input: { ...call.input, ReturnConsumedCapacity: 'INDEXES' } });
        // Data calls answer with what they consumed, if asked.
        const consumed = [(result.output as Answered).ConsumedCapacity ?? []].flat();
        meter[isWrite ? 'writes' : 'reads'] += consumed.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
        return result;
      },
    { step: 'initialize', name: 'meterCapacity' },
  );
  return meter;
}

/** How the AWS SDK wants to be configured: whether, and when, to try again. */
type RetryStrategy = Extract<
  NonNullable<DynamoDBClientConfig['retryStrategy']>,
  { readonly acquireInitialRetryToken: unknown }
>;
type Token = Awaited<ReturnType<RetryStrategy['acquireInitialRetryToken']>>;

interface RetryOptions {
  /** Tries of one call, the first among them. */
  readonly maxAttempts: number;
  /** Longest pause before the second try, in milliseconds; it doubles with each, up to `longestPauseMs`. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** A call that has taken longer than this is not tried again, in milliseconds. */
  readonly timeoutMs: number;
  /** Further tries that all calls together may owe: each takes one, each call that succeeds gives back what it took, or one. */
  readonly budget: number;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
}

/** A write met a transaction on the same item, which ends by itself. It is no client's fault, though reported as one. */
const PASSING = 'TransactionConflictException';

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
  const { maxAttempts, firstPauseMs, longestPauseMs, timeoutMs, budget, now } = options;
  let left = budget;
  /** When the call of a token began. */
  const begunAt = new WeakMap<Token, number>();

  function startToken(retries: number, pauseMs: number, callBegunAt: number): Token {
    const token: Token = { getRetryCount: () => retries, getRetryDelay: () => pauseMs };
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
      if (now() - callBegunAt > timeoutMs) throw new Error('tried long enough');
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

/** Longest wait for a connection, in milliseconds: two lost SYN packets end it. */
const CONNECTION_TIMEOUT_MS = 1000;
/** Longest wait for one attempt's answer, in milliseconds; a healthy table answers in ten. */
const REQUEST_TIMEOUT_MS = 1300;
/** Tries of one call. With 10 % of all tries failing at once, one call in ten million fails. */
const MAX_ATTEMPTS = 7;
/** A call that has taken longer is not tried again, in milliseconds: of tries that time out there are four. */
const TIMEOUT_MS = 4300;
/** Longest pause before the first further try, in milliseconds; it doubles with each, up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 400;
/** Further tries that all calls of one process may owe: when nothing answers, most calls soon fail at once. */
const RETRY_BUDGET = 500;
/** Connections of one process; a list asks every shard at once. */
const MAX_SOCKETS = 256;

/** The default logger drops what it is given, but the SDK copies each input and output for its `info` first: 5 % of a call's time. */
const WITHOUT_INFO = { debug: () => undefined, warn: () => undefined };

/** The AWS SDK's settings that may be chosen; it reads the rest itself. */
export type DynamoClientSettings = Pick<DynamoDBClientConfig, 'region' | 'endpoint' | 'credentials'>;

/**
 * Makes a client that gives up on a dead table after 6 seconds at most: the last try begins 4.7 s after the first, and takes 1.3 s.
 * That is well within the 29 seconds of a function.
 *
 * @param settings - what is not given is read as the AWS SDK reads it: environment, shared files, the machine's role
 * @returns the client; connections are kept alive
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html
 */
export function createDynamoClient(settings: DynamoClientSettings = {}): DynamoDBClient {
  return new DynamoDBClient({
    ...settings,
    // The SDK asks whether its logger has `info` and `error`; its type does not say so.
    logger: WITHOUT_INFO as unknown as NonNullable<DynamoDBClientConfig['logger']>,
    maxAttempts: MAX_ATTEMPTS,
    retryStrategy: createRetryStrategy({
      maxAttempts: MAX_ATTEMPTS,
      firstPauseMs: FIRST_PAUSE_MS,
      longestPauseMs: LONGEST_PAUSE_MS,
      timeoutMs: TIMEOUT_MS,
      now: () => performance.now(),
      budget: RETRY_BUDGET,
    }),
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      // Of an answer that has begun and stopped.
      socketTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    },
  });
}
