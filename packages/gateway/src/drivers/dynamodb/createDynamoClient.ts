import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';

/** Longest wait for a connection, in milliseconds: two lost SYN packets end it. */
const CONNECTION_TIMEOUT_MS = 1000;
/** Longest wait for one attempt's answer, in milliseconds; a healthy table answers in ten. */
const REQUEST_TIMEOUT_MS = 1300;
/** Tries of one call. With 10 % of all tries failing, one call in 10,000 fails. */
const MAX_ATTEMPTS = 4;
/** Longest pause before the first further try, in milliseconds; it doubles with each. */
const FIRST_PAUSE_MS = 100;
/** Connections of one process; a list asks every shard at once. */
const MAX_SOCKETS = 256;

/** What may be chosen of the AWS SDK's own settings; the rest it reads itself. */
export type DynamoClientSettings = Pick<DynamoDBClientConfig, 'region' | 'endpoint' | 'credentials'>;

/** Pauses at random, up to a bound that doubles: clients that failed together do not come back together. */
const pauseBefore = (attempt: number) => Math.random() * FIRST_PAUSE_MS * 2 ** (attempt - 1);

/**
 * Makes a client that gives up on a dead table after 6 seconds at most: 4 tries of 1.3 s, and pauses of 0.7 s in all. That is
 * well within the 29 seconds of a function.
 *
 * @param settings - what is not given is read as the AWS SDK reads it: environment, shared files, the machine's role
 * @returns the client; connections are kept alive
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html
 */
export function createDynamoClient(settings: DynamoClientSettings = {}): DynamoDBClient {
  return new DynamoDBClient({
    ...settings,
    retryStrategy: new ConfiguredRetryStrategy(MAX_ATTEMPTS, pauseBefore),
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
