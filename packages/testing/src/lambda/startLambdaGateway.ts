import { spawnSync } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createStreamReader } from '../dynamo/createStreamReader.ts';
import { DYNAMO_TEST_ACCESS } from '../dynamo/dynamoServer.ts';
import { startDynamo } from '../dynamo/startDynamo.ts';
import { type LoopbackServer, listenOnLoopback } from '../listenOnLoopback.ts';
import { startJwtIssuer } from '../startJwtIssuer.ts';
import { startStrictS3Server } from '../startStrictS3Server.ts';
import { httpApiEvent } from './httpApiEvent.ts';
import type { HttpCall } from './httpCall.ts';
import { installRuntimeClient } from './installRuntimeClient.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from './startSandbox.ts';

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
  /** The instances' figures so far. */
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
 * @throws RuntimeClientMissingError, DynamoEngineMissingError if this machine cannot run it
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
    RATE_LIMIT_READ_BYTES: '1000000000',
    RATE_LIMIT_CLAIMS: HIGH_LIMIT,
    RATE_LIMIT_REPORTS: HIGH_LIMIT,
    RATE_LIMIT_AUTH_FAILURES: HIGH_LIMIT,
    RATE_LIMIT_ADMIN_FAILURES: HIGH_LIMIT,
  };
  runCommand('packages/gateway/src/entry/createTables.ts', { ...env, STORE: 'dynamodb' });
  const output: string[] = [];
  const common = {
    ...{ runtimeClient, memoryMegabytes: MEMORY_MEGABYTES, limitMs: LIMIT_MS },
    onLine: (line: string) => void output.push(line),
  };
  const pool = createSandboxPool({ ...common, code: file('dist/lambda'), env, maxInstances: MAX_INSTANCES });
  const counting = startCounting({ ...common, code: file('dist/lambda-webhooks'), env }, dynamo.endpoint);
  const front = await startHttpFront(pool);
  return {
    url: front.url,
    adminKey,
    tokens: [await identity.sign({ sub: 'alice' }), await identity.sign({ sub: 'bob' })],
    output,
    report: pool.report,
    async stop() {
      await front.close();
      await counting.close();
      await pool.close();
      await Promise.all([dynamo.close(), s3.close(), identity.close()]);
    },
  };
}

/** How often the stream is looked at, in milliseconds. */
const STREAM_MS = 100;

/** Hands what the requests' table's stream reports to the function that counts it, as Lambda does: batch after batch, to one instance. */
function startCounting({ env, ...options }: SandboxOptions, endpoint: string) {
  const tables = { REQUESTS_TABLE: 'service-requests-dev', DELIVERIES_TABLE: 'service-deliveries-dev' };
  const own = { ...tables, RECORDS: 'stats', WEBHOOKS_QUEUE_URL: 'http://127.0.0.1:1/it-wakes-nobody' };
  const pool = createSandboxPool({ ...options, env: { ...env, ...own }, maxInstances: 1 });
  const stream = createStreamReader<object>(endpoint, tables.REQUESTS_TABLE);
  const closing = new AbortController();
  async function count(): Promise<void> {
    while (!closing.signal.aborted) {
      const records = await stream.read();
      const Records = records.map((record) => ({ ...record, eventSource: 'aws:dynamodb' }));
      if (Records.length > 0) await pool.invoke({ Records });
      else await pause(STREAM_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }
  const counting = count();
  // Called when it is closed.
  counting.catch(() => undefined);
  return {
    async close() {
      closing.abort();
      await counting;
      await pool.close();
    },
  };
}

/** Instances of one function, as many as there are calls at a time. */
interface SandboxPool {
  /** Hands a call to an idle instance, or to a new one, or to the first that becomes idle. */
  invoke(event: unknown): Promise<string>;
  /** The instances' figures so far. */
  report(): PoolReport;
  close(): Promise<void>;
}

/** Figures of all instances. */
interface PoolReport {
  readonly instances: number;
  /** Longest time that one took to get ready, in milliseconds. */
  readonly slowestInitMs: number;
  /** The most memory that one has had, in bytes. */
  readonly peakBytes: number;
  /** How long the calls took, from the moment that an instance had them, in milliseconds. */
  readonly durationsMs: readonly number[];
}

interface PoolOptions extends SandboxOptions {
  /** Most instances at a time. */
  readonly maxInstances: number;
}

/** Makes a pool that is empty at first: the first calls meet cold starts, as on Lambda. */
function createSandboxPool({ maxInstances, ...options }: PoolOptions): SandboxPool {
  const all: Sandbox[] = [];
  const idle: Sandbox[] = [];
  const waiting: ((sandbox: Sandbox) => void)[] = [];
  const durationsMs: number[] = [];
  let starting = 0;

  async function take(): Promise<Sandbox> {
    const sandbox = idle.pop();
    if (sandbox !== undefined) return sandbox;
    if (all.length + starting < maxInstances) {
      starting++;
      try {
        const started = await startSandbox(options);
        all.push(started);
        return started;
      } finally {
        starting--;
      }
    }
    return await new Promise((resolve) => waiting.push(resolve));
  }

  function giveBack(sandbox: Sandbox): void {
    const next = waiting.shift();
    if (next === undefined) idle.push(sandbox);
    else next(sandbox);
  }

  return {
    async invoke(event) {
      const sandbox = await take();
      const startedAt = performance.now();
      try {
        return await sandbox.invoke(event);
      } finally {
        durationsMs.push(performance.now() - startedAt);
        giveBack(sandbox);
      }
    },
    report: () => ({
      instances: all.length,
      slowestInitMs: Math.max(0, ...all.map(({ initMs }) => initMs)),
      peakBytes: Math.max(0, ...all.map((sandbox) => sandbox.peakBytes())),
      durationsMs,
    }),
    async close() {
      await Promise.all(all.map((sandbox) => sandbox.close()));
    },
  };
}

interface FrontOptions {
  /** Hands an event to the function. @returns its answer's JSON text */
  readonly invoke: (event: unknown) => Promise<string>;
}

/** A function's answer to an HTTP API. */
interface Result {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

function* pairsOf(raw: readonly string[]): Generator<readonly [string, string]> {
  for (let at = 0; at + 1 < raw.length; at += 2) yield [raw[at] ?? '', raw[at + 1] ?? ''];
}

async function readCall(incoming: IncomingMessage): Promise<HttpCall> {
  const chunks: Buffer[] = await incoming.toArray();
  return {
    method: incoming.method ?? 'GET',
    target: incoming.url ?? '/',
    headers: [...pairsOf(incoming.rawHeaders)],
    body: Buffer.concat(chunks),
    peerAddress: incoming.socket.remoteAddress ?? '',
  };
}

/**
 * Starts an HTTP server on 127.0.0.1 that turns calls into events of an HTTP API, of its default stage.
 *
 * A function that fails is 500 with API Gateway's own body.
 */
async function startHttpFront({ invoke }: FrontOptions): Promise<LoopbackServer> {
  const server = createServer(async (incoming, outgoing) => {
    try {
      const call = await readCall(incoming);
      const domainName = incoming.headers.host ?? '';
      // What is no such answer ends up below, as on AWS.
      const result = JSON.parse(
        await invoke(httpApiEvent(call, { stage: '$default', basePath: '', domainName })),
      ) as Result;
      outgoing.writeHead(result.statusCode, result.headers);
      outgoing.end(Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8'));
    } catch (error) {
      console.error(String(error));
      outgoing.writeHead(500, { 'content-type': 'application/json' }).end('{"message":"Internal Server Error"}');
    }
  });
  return await listenOnLoopback(server);
}
