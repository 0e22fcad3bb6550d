import { randomUUID } from 'node:crypto';
import {
  DYNAMO_TEST_ACCESS,
  type FaultProxy,
  type OidcProvider,
  startDynamo,
  startFaultProxy,
  startOidcProvider,
  startStrictS3Server,
} from '@prism-gateway/testing';
import type { DynamoClientSettings } from '../../src/drivers/dynamodb/createDynamoClient.ts';
import type { TableNames } from '../../src/drivers/dynamodb/tables.ts';
import { createEmptyTables } from '../rigs/createEmptyTables.ts';
import type { Dependency, Weather } from './weather.ts';

/** The real dependencies of a gateway on AWS, as they run on one machine, and what stands between. */
export interface FaultyWorld extends AsyncDisposable {
  readonly proxies: Readonly<Record<Dependency, FaultProxy>>;
  readonly identity: OidcProvider;
  /** A client's settings for DynamoDB's engine itself, for looking at the tables past the proxy. */
  readonly directly: DynamoClientSettings;
  readonly engine: string;
  readonly tables: TableNames;
  /** Environment variables by which a server, or the function, goes through the proxies. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets what befalls calls to the three from now on. */
  setWeather(weather: Weather): void;
}

/** The administrator's key of gateways in this world. */
export const ADMIN_KEY = 'change-me-admin-key';
/** Limits are on, so that each call is counted in the store, and so high that nobody meets them. */
const HIGH_LIMIT = '1000000000';

async function startIdentity(): Promise<{ readonly identity: OidcProvider; readonly proxy: FaultProxy }> {
  let proxy: FaultProxy | undefined;
  const identity = await startOidcProvider({
    async publish(upstream) {
      proxy = await startFaultProxy({ upstream, answers: 'http', seed: 3 });
      return proxy.url;
    },
  });
  if (proxy === undefined) throw new Error('a provider is published before it has started');
  return { identity, proxy };
}

/**
 * Starts a DynamoDB engine with empty tables, an S3 server that checks signatures and content, and an OpenID provider, each
 * behind a proxy that at first does no harm.
 */
export async function startFaultyWorld(): Promise<FaultyWorld> {
  const [dynamo, s3, { identity, proxy: identityProxy }] = await Promise.all([
    startDynamo(),
    startStrictS3Server(),
    startIdentity(),
  ]);
  const proxies = {
    dynamodb: await startFaultProxy({ upstream: dynamo.endpoint, answers: 'dynamodb', seed: 1 }),
    s3: await startFaultProxy({ upstream: s3.endpoint, answers: 's3', seed: 2 }),
    identity: identityProxy,
  };
  const run = randomUUID().slice(0, 8);
  const tables = { requests: `requests-${run}`, relayers: `relayers-${run}`, rateLimits: `ratelimit-${run}` };
  // The S3 server knows these keys only, and a gateway has one pair; DynamoDB Local keeps tables apart by their owner's key.
  const directly = {
    endpoint: dynamo.endpoint,
    region: DYNAMO_TEST_ACCESS.region,
    credentials: s3.credentials,
  };
  await createEmptyTables(directly, tables);
  return {
    proxies,
    identity,
    directly,
    engine: dynamo.engine,
    tables,
    env: {
      STAGE: 'dev',
      STORE: 'dynamodb',
      AWS_REGION: DYNAMO_TEST_ACCESS.region,
      AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: proxies.dynamodb.url,
      AWS_ENDPOINT_URL_S3: proxies.s3.url,
      S3_FORCE_PATH_STYLE: 'true',
      STORAGE_BUCKET: s3.bucket,
      REQUESTS_TABLE: tables.requests,
      RELAYERS_TABLE: tables.relayers,
      RATELIMIT_TABLE: tables.rateLimits,
      IDENTITY_ISSUER: identity.issuer,
      IDENTITY_APP_ID: identity.appId,
      IDENTITY_APP_SECRET: identity.appSecret,
      ADMIN_API_KEY: ADMIN_KEY,
      CURSOR_SECRET: 'not-a-secret-but-as-long-as-one-must-be',
      RATE_LIMIT_READS: HIGH_LIMIT,
      RATE_LIMIT_WRITES: HIGH_LIMIT,
      RATE_LIMIT_SIGN: HIGH_LIMIT,
      RATE_LIMIT_WRITE_BYTES: '1000000000',
      RATE_LIMIT_CLAIMS: HIGH_LIMIT,
      RATE_LIMIT_REPORTS: HIGH_LIMIT,
      RATE_LIMIT_AUTH_FAILURES: HIGH_LIMIT,
      RATE_LIMIT_ADMIN_FAILURES: HIGH_LIMIT,
    },
    setWeather({ dynamodb = {}, s3: ofS3 = {}, identity: ofIdentity = {} }) {
      proxies.dynamodb.setShares(dynamodb);
      proxies.s3.setShares(ofS3);
      proxies.identity.setShares(ofIdentity);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(proxies).map((proxy) => proxy.close()));
      await Promise.all([dynamo.close(), s3.close(), identity.close()]);
    },
  };
}

/** Says what befell the calls to each dependency: `dynamodb 5012 calls, 498 faults (delay 61, …)`. */
export function describeFaults({ proxies }: Pick<FaultyWorld, 'proxies'>): string {
  const lines = Object.entries(proxies).map(([name, proxy]) => {
    const { passed, ...faults } = proxy.counts;
    const injected = countFaults(proxy);
    const kinds = Object.entries(faults).filter(([, count]) => count > 0);
    const byKind = kinds.map(([kind, count]) => `${kind} ${count}`).join(', ');
    return `${name} ${passed + injected} calls, ${injected} faults (${byKind})`;
  });
  return lines.join('; ');
}

/** How many calls to a dependency something has befallen. */
export function countFaults({ counts: { passed: _, ...faults } }: FaultProxy): number {
  return Object.values(faults).reduce((sum, count) => sum + count, 0);
}
