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
import { createEmptyTables } from '../rigs/createEmptyTables.ts';
import type { RelayerClient } from '../rigs/relayerClient.ts';
import type { Door } from './door.ts';

/** A dependency of the gateway, each behind a proxy of its own. */
type Dependency = 'dynamodb' | 's3' | 'identity';

/** The real dependencies of a gateway on AWS, as they run on one machine, and what stands between. */
export interface FaultyWorld extends AsyncDisposable {
  readonly proxies: Readonly<Record<Dependency, FaultProxy>>;
  readonly identity: OidcProvider;
  /** Environment variables by which a server, or the function, goes through the proxies. */
  readonly env: Readonly<Record<string, string>>;
  /** Has nothing befall calls to the three from now on. */
  calm(): void;
}

/** The administrator's key of gateways in this world. */
const ADMIN_KEY = 'change-me-admin-key';
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
    calm() {
      for (const proxy of Object.values(proxies)) proxy.setShares({});
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(proxies).map((proxy) => proxy.close()));
      await Promise.all([dynamo.close(), s3.close(), identity.close()]);
    },
  };
}

/** Puts relayers on the whitelist. */
export async function addRelayersBy(door: Door, relayers: readonly RelayerClient[]): Promise<void> {
  const headers = { 'x-admin-key': ADMIN_KEY };
  for (const { address } of relayers) {
    const { status, text } = await door.send({ method: 'POST', path: '/admin/relayers', json: { address }, headers });
    if (status !== 201) throw new Error(`a relayer was not added: ${status} ${text}`);
  }
}
