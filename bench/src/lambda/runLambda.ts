import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DYNAMO_TEST_ACCESS, startDynamo } from '@prism-gateway/testing';
import { build } from 'esbuild';
import { bundleFunction } from '../../../scripts/lambda/bundleFunction.ts';
import { bundleOptions } from '../../../scripts/lambda/bundleOptions.ts';
import type { Options } from '../options.ts';
import type { Report } from '../report/printReport.ts';

/** Each round starts a fresh process for each module, in turn. */
const ROUNDS = 15;
const QUICK_ROUNDS = 2;
const REQUEST_ID = '00000000-0000-7000-8000-000000000001';
const GATEWAY = fileURLToPath(new URL('../../../packages/gateway', import.meta.url));

const CALL_CLIENT = `({ DynamoDBClient, GetItemCommand }) => {
  const client = new DynamoDBClient({});
  const input = { TableName: 'service-requests-dev', Key: { requestId: { S: '${REQUEST_ID}' } } };
  return () => client.send(new GetItemCommand(input));
}`;

const EVENT = {
  version: '2.0',
  rawPath: `/requests/${REQUEST_ID}`,
  rawQueryString: '',
  headers: { host: 'gateway.example.org' },
  requestContext: { domainName: '', stage: '$default', http: { method: 'GET', sourceIp: '192.0.2.1' } },
  body: '',
  isBase64Encoded: false,
};

const CALL_FUNCTION = `({ handler }) => () =>
  handler(${JSON.stringify(EVENT)}, { awsRequestId: 'bench', getRemainingTimeInMillis: () => 29000 })`;

/** The driver's imports of the client. */
const CLIENT = `export {
  BatchGetItemCommand, ConditionalCheckFailedException, DeleteItemCommand, DynamoDBClient, GetItemCommand, paginateScan,
  PutItemCommand, QueryCommand, UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';`;

/** Bundles the DynamoDB client alone, as a user of it would: minified ES modules, and its own sources of credentials. */
async function bundleClient(folder: string): Promise<string> {
  const file = join(folder, 'client.mjs');
  const { outputFiles } = await build({
    ...bundleOptions,
    ...{ plugins: [], alias: {}, write: false, stdin: { contents: CLIENT, resolveDir: GATEWAY } },
    // Packages in CommonJS want it for modules of Node.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
  await writeFile(file, outputFiles?.find(({ path }) => path.endsWith('.mjs'))?.contents ?? '');
  return file;
}

const environmentOf = (endpoint: string) => ({
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: DYNAMO_TEST_ACCESS.credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: DYNAMO_TEST_ACCESS.credentials.secretAccessKey,
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  STORAGE_BUCKET: 'prism-objects',
  ADMIN_API_KEY: 'not-a-key-but-as-long-as-one-must-be',
  CURSOR_SECRET: 'not-a-secret-but-as-long-as-one-must-be',
  IDENTITY_ISSUER: 'https://id.example.org',
  IDENTITY_APP_ID: 'prism',
});

async function createTables(env: Readonly<Record<string, string>>): Promise<void> {
  const script = join(GATEWAY, 'src/entry/createTables.ts');
  await promisify(execFile)(process.execPath, [script], { env: { ...env, STORE: 'dynamodb' } });
}

async function measureOn(endpoint: string, { folder, rounds }: { readonly folder: string; readonly rounds: number }) {
  const env = environmentOf(endpoint);
  await createTables(env);
  const { file } = await bundleFunction({ code: join(folder, 'code'), maps: join(folder, 'maps') });
  const modules: Record<'client' | 'function', Timed> = {
    client: { file: await bundleClient(folder), makeCall: CALL_CLIENT },
    function: { file, makeCall: CALL_FUNCTION },
  };
  const [ofClient, ofFunction]: [ColdTimes[], ColdTimes[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    const [client, own] = [await timeCold(modules.client, env), await timeCold(modules.function, env)];
    // The first one brings every file into the system's cache.
    if (round === 0) continue;
    ofClient.push(client);
    ofFunction.push(own);
  }
  return { ofClient, ofFunction };
}

/** Measures how long a cold start takes to import the function and to answer its first call, beside the DynamoDB client alone. */
export async function runLambda({ quick }: Options): Promise<Report> {
  const stack = new AsyncDisposableStack();
  try {
    const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'prism-bench-lambda-')), (path) =>
      rm(path, { recursive: true, force: true }),
    );
    const engine = stack.use(await startDynamo());
    const rounds = quick ? QUICK_ROUNDS : ROUNDS;
    const { ofClient, ofFunction } = await measureOn(engine.endpoint, { folder, rounds });
    const compare = (title: string, takenOf: (times: ColdTimes) => number) => ({
      ...{ title, unit: 'ms', values: ofFunction.map(takenOf) },
      baseline: { title: 'the client alone', values: ofClient.map(takenOf) },
    });
    // By the processor's time: what a busy machine adds to the clock's it would add to either.
    const cpuOf = (act: 'firstCall' | 'warmCall') => ofFunction.map((times): Took['cpuMs'] => times[act].cpuMs);
    return {
      about: [`A cold start, in a fresh process each time, ${rounds} rounds on ${process.arch}`],
      rows: [
        {
          ...compare('import', (times) => times.import.wallMs),
          notes: ['the function rehearses meanwhile what the client does at its first call'],
        },
        compare('first call', ({ firstCall }) => firstCall.wallMs),
        {
          ...compare('from import to answer', (times) => times.import.wallMs + times.firstCall.wallMs),
          target: { of: 'ratio', is: 'at most', bound: 3 },
        },
        {
          title: 'first call, CPU',
          unit: 'ms',
          values: cpuOf('firstCall'),
          baseline: { title: 'a warm one', values: cpuOf('warmCall') },
          target: { of: 'ratio', is: 'at most', bound: 2 },
        },
      ],
    };
  } finally {
    await stack.disposeAsync();
  }
}

const run = promisify(execFile);

/** The cost of one act. */
interface Took {
  readonly wallMs: number;
  /** CPU time of all threads meanwhile. */
  readonly cpuMs: number;
}

/** A cold start, in a process that did nothing before. */
interface ColdTimes {
  /** Until the module was ready, what it awaits included. */
  readonly import: Took;
  readonly firstCall: Took;
  /** The median of further calls. */
  readonly warmCall: Took;
}

/** A module to time, and how it is called. */
interface Timed {
  readonly file: string;
  /** Text of a function that is given the module and makes the function that makes one call. */
  readonly makeCall: string;
}

/** Calls that go before those whose median is taken, and those. */
const SETTLING = 10;
const COUNTED = 21;

const scriptOf = (makeCall: string) => `
const time = async (act) => {
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const result = await act();
  const wallMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  return { result, wallMs, cpuMs: (user + system) / 1000 };
};
const imported = await time(() => import(process.argv[1]));
const call = (${makeCall})(imported.result);
const firstCall = await time(call);
for (let i = 0; i < ${SETTLING}; i++) await call();
const warm = [];
for (let i = 0; i < ${COUNTED}; i++) warm.push(await time(call));
const medianOf = (key) => warm.map((took) => took[key]).sort((a, b) => a - b)[${Math.floor(COUNTED / 2)}];
const strip = ({ wallMs, cpuMs }) => ({ wallMs, cpuMs });
const warmCall = { wallMs: medianOf('wallMs'), cpuMs: medianOf('cpuMs') };
process.stderr.write(JSON.stringify({ import: strip(imported), firstCall: strip(firstCall), warmCall }));
process.exit();`;

/**
 * Times a cold start: the import of a module, its first call, and warm ones.
 *
 * @param env - all of its environment variables
 */
async function timeCold({ file, makeCall }: Timed, env: Readonly<Record<string, string>>): Promise<ColdTimes> {
  const { stderr } = await run(process.execPath, ['--input-type=module', '--eval', scriptOf(makeCall), file], { env });
  // The script writes nothing else there; the function's log goes to standard output.
  return JSON.parse(stderr) as ColdTimes;
}
