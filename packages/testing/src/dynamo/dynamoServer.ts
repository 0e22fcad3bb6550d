/** A running engine that speaks DynamoDB's API; it keeps everything in memory, and takes any credentials. */
export interface DynamoServer extends AsyncDisposable {
  /** For example `http://127.0.0.1:40123`. */
  readonly endpoint: string;
  readonly engine: 'dynoxide' | 'dynamodb-local';
  /** Ends the engine, and with it all it kept; it may be called again. */
  close(): Promise<void>;
}

/** Region and keys for the AWS SDK; the engines check neither. */
export const DYNAMO_TEST_ACCESS = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
} as const;

/** No engine can run on this machine; `message` says what is missing. */
export class DynamoEngineMissingError extends Error {
  override readonly name = 'DynamoEngineMissingError';
  readonly code = 'DYNAMO_ENGINE_MISSING';
}
