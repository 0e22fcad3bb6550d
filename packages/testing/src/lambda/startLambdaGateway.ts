import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { DYNAMO_TEST_ACCESS } from '../dynamo/dynamoServer.ts';
import { startDynamo } from '../dynamo/startDynamo.ts';
import { startJwtIssuer } from '../startJwtIssuer.ts';
import { startStrictS3Server } from '../startStrictS3Server.ts';
import { createSandboxPool, type PoolReport } from './createSandboxPool.ts';
import { installRuntimeClient } from './installRuntimeClient.ts';
import { startHttpFront } from './startHttpFront.ts';

const file = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

/** As in `infra/`. */
const MEMORY_MEGABYTES = 256;
const LIMIT_MS = 29_000;
/** Instances at a time; each is a process, and the machine has two cores. */
const MAX_INSTANCES = 4;
const HIGH_LIMIT = '1000000';

/** The gateway as a function, behind an HTTP address. */
export interface LambdaGateway {
  readonly url: string;
  readonly adminKey: string;
  /** Access tokens of two users. */
  readonly tokens: readonly string[];
  /** Every line that the function has printed. */
  readonly output: readonly string[];
  /** What the instances have shown so far. */
  report(): PoolReport;
  stop(): Promise<void>;
}

/** Runs one of the gateway's own commands to its end. */
function runCommand(path: string, env: Readonly<Record<string, string>>): void {
  const { status, stderr } = spawnSync(process.execPath, [file(path)], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${path} ended with ${status}:\n${stderr}`);
}

/**
 * Builds the gateway's function and runs it as Lambda does: the real bundle under AWS's runtime interface client, with 256 MB,
 * one call at a time an instance, frozen in between. DynamoDB, S3 and the identity provider are local engines.
 *
 * @throws RuntimeClientMissingError, DynamoEngineMissingError where this machine cannot run it
 */
export async function startLambdaGateway(): Promise<LambdaGateway> {
  const runtimeClient = installRuntimeClient();
  runCommand('scripts/buildLambda.ts', { PATH: process.env.PATH ?? '' });
  const [dynamo, s3, identity] = await Promise.all([startDynamo(), startStrictS3Server(), startJwtIssuer()]);
  const adminKey = 'change-me-admin-key';
  const env = {
    STAGE: 'dev',
    AWS_REGION: DYNAMO_TEST_ACCESS.region,
    AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: dynamo.endpoint,
    AWS_ENDPOINT_URL_S3: s3.endpoint,
    S3_FORCE_PATH_STYLE: 'true',
    STORAGE_BUCKET: s3.bucket,
    IDENTITY_ISSUER: identity.issuer,
    IDENTITY_APP_ID: identity.appId,
    IDENTITY_APP_SECRET: identity.appSecret,
    ADMIN_API_KEY: adminKey,
    CURSOR_SECRET: 'not-a-secret-but-as-long-as-one-must-be',
    RATE_LIMIT_WRITES: HIGH_LIMIT,
    RATE_LIMIT_READS: HIGH_LIMIT,
    RATE_LIMIT_SIGN: HIGH_LIMIT,
    RATE_LIMIT_WRITE_BYTES: '1000000000',
    RATE_LIMIT_CLAIMS: HIGH_LIMIT,
    RATE_LIMIT_REPORTS: HIGH_LIMIT,
    RATE_LIMIT_AUTH_FAILURES: HIGH_LIMIT,
    RATE_LIMIT_ADMIN_FAILURES: HIGH_LIMIT,
  };
  runCommand('packages/gateway/scripts/createTables.ts', { ...env, STORE: 'dynamodb' });
  const output: string[] = [];
  const pool = createSandboxPool({
    runtimeClient,
    code: file('dist/lambda'),
    env,
    memoryMegabytes: MEMORY_MEGABYTES,
    limitMs: LIMIT_MS,
    maxInstances: MAX_INSTANCES,
    onLine: (line) => output.push(line),
  });
  const front = await startHttpFront(pool);
  return {
    url: front.url,
    adminKey,
    tokens: [await identity.sign({ sub: 'alice' }), await identity.sign({ sub: 'bob' })],
    output,
    report: pool.report,
    async stop() {
      await front.close();
      await pool.close();
      await Promise.all([dynamo.close(), s3.close(), identity.close()]);
    },
  };
}
