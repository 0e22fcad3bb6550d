/**
 * `npm run bench -- lambda [rounds]`: how long a cold start takes to import the function and to answer its first call, beside the
 * DynamoDB client alone that makes the same single call.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DYNAMO_TEST_ACCESS, startDynamo } from '@prism-gateway/testing';
import { bundleFunction } from '../../../scripts/lambda/bundleFunction.ts';
import { bundleClient, bundleLeanClient } from './bundleClient.ts';
import { createGatewayTables } from './createGatewayTables.ts';
import { type ColdTimes, type Timed, type Took, timeCold } from './timeCold.ts';

/** Rounds unless told otherwise; each starts a fresh process for each module, in turn. */
const DEFAULT_ROUNDS = 15;
/** Rounds of `--quick`, which judges nothing. */
const QUICK_ROUNDS = 2;
/** Fewest that a median is judged by. */
const MIN_ROUNDS = 9;
/** How many times as long as the client alone the function may take from its import to its first answer. */
const MAX_RATIO = 3;
/** How many times as long as a warm call the first one may take. */
const MAX_FIRST = 2;

const REQUEST_ID = '00000000-0000-7000-8000-000000000001';

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

type Round = Readonly<Record<'client' | 'leanClient' | 'function', ColdTimes>>;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
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

async function measure(folder: string, count: number) {
  const engine = await startDynamo();
  try {
    return await measureOn(engine.endpoint, { folder, count });
  } finally {
    await engine.close();
  }
}

async function measureOn(endpoint: string, { folder, count }: { readonly folder: string; readonly count: number }) {
  const env = environmentOf(endpoint);
  await createGatewayTables(env);
  const { file } = await bundleFunction({ code: join(folder, 'code'), maps: join(folder, 'maps') });
  const timed: Readonly<Record<keyof Round, Timed>> = {
    client: { file: await bundleClient(folder), makeCall: CALL_CLIENT },
    leanClient: { file: await bundleLeanClient(folder), makeCall: CALL_CLIENT },
    function: { file, makeCall: CALL_FUNCTION },
  };
  const round = async (): Promise<Round> => ({
    client: await timeCold(timed.client, env),
    leanClient: await timeCold(timed.leanClient, env),
    function: await timeCold(timed.function, env),
  });
  // Once, so that every file is in the system's cache.
  await round();
  const rounds: Round[] = [];
  while (rounds.length < count) rounds.push(await round());
  const sizeOf = async (key: keyof Round) => (await stat(timed[key].file)).size;
  const bytes = {
    client: await sizeOf('client'),
    leanClient: await sizeOf('leanClient'),
    function: await sizeOf('function'),
  };
  return { rounds, bytes };
}

const ACTS = ['import', 'firstCall', 'warmCall'] as const;

function describeRow(name: string, key: keyof Round, rounds: readonly Round[], bytes: number): string {
  const figures = ACTS.flatMap((act) =>
    (['wallMs', 'cpuMs'] as const).map((unit) =>
      median(rounds.map((round) => round[key][act][unit]))
        .toFixed(1)
        .padStart(9),
    ),
  );
  return `  ${name.padEnd(38)}${(bytes / 1000).toFixed(0).padStart(5)} kB${figures.join('')}`;
}

const total = (times: ColdTimes, unit: keyof Took) => times.import[unit] + times.firstCall[unit];

function describeRatios(rounds: readonly Round[]) {
  const ratio = (of: (round: Round) => number) => median(rounds.map(of));
  const beside = (act: 'import' | 'firstCall') =>
    ratio((round) => round.function[act].wallMs / round.client[act].wallMs);
  // By the processor's time: what a busy machine adds to the clock's it would add to either.
  const first = ratio((round) => round.function.firstCall.cpuMs / round.function.warmCall.cpuMs);
  const cold = ratio((round) => total(round.function, 'wallMs') / total(round.client, 'wallMs'));
  const text = `
  function / client, import                 ${beside('import').toFixed(2)}   the function rehearses meanwhile what the client does at its first call
  function / client, first call             ${beside('firstCall').toFixed(2)}
  function / client, from import to answer  ${cold.toFixed(2)}   at most ${MAX_RATIO} is wanted
  first call / warm call, CPU               ${first.toFixed(2)}   at most ${MAX_FIRST} is wanted
`;
  return { text, isKept: first <= MAX_FIRST && cold <= MAX_RATIO };
}

async function main(): Promise<number> {
  const [given] = process.argv.slice(2).filter((argument) => argument !== 'lambda');
  const isQuick = given === '--quick';
  const count = isQuick ? QUICK_ROUNDS : Math.max(MIN_ROUNDS, Number(given ?? DEFAULT_ROUNDS) || DEFAULT_ROUNDS);
  const folder = await mkdtemp(join(tmpdir(), 'prism-bench-lambda-'));
  try {
    const { rounds, bytes } = await measure(folder, count);
    const { text, isKept } = describeRatios(rounds);
    console.log(`
  A cold start, in a fresh process each time: medians of ${count} rounds on Node ${process.version}, ${process.arch}; ms, wall and CPU
${' '.repeat(46)}     import       CPU    first       CPU     warm      CPU
${describeRow('the DynamoDB client alone', 'client', rounds, bytes.client)}
${describeRow('the same, bundled as the function is', 'leanClient', rounds, bytes.leanClient)}
${describeRow('the function', 'function', rounds, bytes.function)}
${text}`);
    return isQuick || isKept ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main();
