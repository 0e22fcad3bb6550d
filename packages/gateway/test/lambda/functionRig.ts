import {
  DYNAMO_TEST_ACCESS,
  type DynamoServer,
  type JwtIssuer,
  type RunningFunction,
  startDynamo,
  startFunction,
  startJwtIssuer,
} from '@prism-gateway/testing';
import type { TableNames } from '../../src/drivers/dynamodb/tables.ts';
import { createEmptyTables } from '../rigs/createEmptyTables.ts';
import { type BuiltFunction, buildFunction } from './buildFunction.ts';

/** The administrator's key in these tests. */
export const ADMIN_KEY = 'change-me-admin-key';

/** The built function, and what it depends on. */
export interface FunctionRig extends AsyncDisposable {
  readonly built: BuiltFunction;
  readonly identity: JwtIssuer;
  /** Environment variables for tables of that name: a server takes them as well as a function. */
  env(tables: string): Record<string, string>;
  /** Starts the function on empty tables of that name. */
  start(tables: string, env?: Readonly<Record<string, string>>): Promise<RunningFunction>;
}

const HIGH_LIMIT = '1000000';

function environment(engine: DynamoServer, identity: JwtIssuer, tables: string): Record<string, string> {
  return {
    STAGE: 'dev',
    STORE: 'dynamodb',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: DYNAMO_TEST_ACCESS.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: DYNAMO_TEST_ACCESS.credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    REQUESTS_TABLE: `service-requests-${tables}`,
    RELAYERS_TABLE: `service-relayers-${tables}`,
    RATELIMIT_TABLE: `service-ratelimit-${tables}`,
    DELIVERIES_TABLE: `service-deliveries-${tables}`,
    STORAGE_BUCKET: 'prism-objects',
    IDENTITY_ISSUER: identity.issuer,
    IDENTITY_APP_ID: identity.appId,
    IDENTITY_APP_SECRET: identity.appSecret,
    ADMIN_API_KEY: ADMIN_KEY,
    CURSOR_SECRET: 'not-a-secret-but-as-long-as-one-must-be',
    // Small, so that a test need not send much to pass it.
    MAX_BODY_BYTES: '4096',
    BASE_PATH: '/v1',
    RATE_LIMIT_READS: HIGH_LIMIT,
    RATE_LIMIT_WRITES: HIGH_LIMIT,
    RATE_LIMIT_SIGN: HIGH_LIMIT,
    RATE_LIMIT_WRITE_BYTES: '1000000000',
    RATE_LIMIT_CLAIMS: HIGH_LIMIT,
    RATE_LIMIT_REPORTS: HIGH_LIMIT,
    RATE_LIMIT_AUTH_FAILURES: HIGH_LIMIT,
    RATE_LIMIT_ADMIN_FAILURES: HIGH_LIMIT,
  };
}

const tableNames = (suffix: string): TableNames => ({
  requests: `service-requests-${suffix}`,
  relayers: `service-relayers-${suffix}`,
  rateLimits: `service-ratelimit-${suffix}`,
});

/** Builds the function, and starts a local engine and an identity provider for it. */
export async function createFunctionRig(): Promise<FunctionRig> {
  const [engine, identity, built] = await Promise.all([
    startDynamo(),
    startJwtIssuer({ introspection: true }),
    buildFunction(),
  ]);
  const running: RunningFunction[] = [];
  return {
    built,
    identity,
    env: (tables) => environment(engine, identity, tables),
    async start(tables, env = {}) {
      await createEmptyTables({ endpoint: engine.endpoint }, tableNames(tables));
      const started = await startFunction({
        file: built.file,
        env: { ...environment(engine, identity, tables), ...env },
      });
      running.push(started);
      return started;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map((one) => one.close()));
      await Promise.all([engine.close(), identity.close(), built[Symbol.asyncDispose]()]);
    },
  };
}
