/**
 * `npm run bench -- lambda [rounds]`: how long a cold start imports the function, beside the DynamoDB client alone.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunction } from '../../../scripts/lambda/bundleFunction.ts';
import { bundleClient, bundleLeanClient } from './bundleClient.ts';
import { type ImportTime, timeImport } from './timeImport.ts';

/** Rounds unless told otherwise; each starts a fresh process for each module, in turn. */
const DEFAULT_ROUNDS = 15;
/** Rounds of `--quick`, which judges nothing. */
const QUICK_ROUNDS = 2;
/** Fewest that a median is judged by. */
const MIN_ROUNDS = 9;
/** How many times as long as the client alone the function may take. */
const MAX_RATIO = 2;

/** Settings with which the function gets ready; nothing is called. */
const env = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  STORAGE_BUCKET: 'prism-objects',
  ADMIN_API_KEY: 'not-a-key-but-as-long-as-one-must-be',
  CURSOR_SECRET: 'not-a-secret-but-as-long-as-one-must-be',
  IDENTITY_ISSUER: 'https://id.example.org',
  IDENTITY_APP_ID: 'prism',
};

type Round = Readonly<Record<'client' | 'leanClient' | 'function', ImportTime>>;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

async function measure(
  folder: string,
  count: number,
): Promise<{ rounds: Round[]; bytes: Record<keyof Round, number> }> {
  const { file } = await bundleFunction({ code: join(folder, 'code'), maps: join(folder, 'maps') });
  const files = { client: await bundleClient(folder), leanClient: await bundleLeanClient(folder), function: file };
  const round = async (): Promise<Round> => ({
    client: await timeImport(files.client, env),
    leanClient: await timeImport(files.leanClient, env),
    function: await timeImport(files.function, env),
  });
  // Once, so that every file is in the system's cache.
  await round();
  const rounds: Round[] = [];
  while (rounds.length < count) rounds.push(await round());
  const sizeOf = async (path: string) => (await stat(path)).size;
  const [client, leanClient, own] = await Promise.all([files.client, files.leanClient, files.function].map(sizeOf));
  return { rounds, bytes: { client: client ?? 0, leanClient: leanClient ?? 0, function: own ?? 0 } };
}

function describeRow(name: string, key: keyof Round, rounds: readonly Round[], bytes: number): string {
  const wall = median(rounds.map((round) => round[key].wallMs)).toFixed(1);
  const cpu = median(rounds.map((round) => round[key].cpuMs)).toFixed(1);
  return `  ${name.padEnd(44)}${(bytes / 1000).toFixed(0).padStart(5)} kB${wall.padStart(10)} ms${cpu.padStart(10)} ms`;
}

async function main(): Promise<number> {
  const [given] = process.argv.slice(2).filter((argument) => argument !== 'lambda');
  const isQuick = given === '--quick';
  const count = isQuick ? QUICK_ROUNDS : Math.max(MIN_ROUNDS, Number(given ?? DEFAULT_ROUNDS) || DEFAULT_ROUNDS);
  const folder = await mkdtemp(join(tmpdir(), 'prism-bench-lambda-'));
  try {
    const { rounds, bytes } = await measure(folder, count);
    const ratioTo = (key: keyof Round) => median(rounds.map((round) => round.function.wallMs / round[key].wallMs));
    const ratio = ratioTo('client');
    console.log(`
  Importing, in a fresh process each time: medians of ${count} rounds on Node ${process.version}, ${process.arch}
${' '.repeat(56)}wall          CPU
${describeRow('the DynamoDB client alone', 'client', rounds, bytes.client)}
${describeRow('the same, bundled as the function is', 'leanClient', rounds, bytes.leanClient)}
${describeRow('the function, ready to answer', 'function', rounds, bytes.function)}

  function / client       ${ratio.toFixed(2)}   at most ${MAX_RATIO} is wanted
  function / lean client  ${ratioTo('leanClient').toFixed(2)}
`);
    return isQuick || ratio <= MAX_RATIO ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main();
