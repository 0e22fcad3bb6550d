/**
 * `npm run bench -- dynamodb`: read and write units; `DYNAMODB_ENGINE=dynamodb-local` has AWS's own engine count them.
 * `npm run bench -- dynamodb scaling [new requests a second]`: how many shards a rate needs.
 * `npm run bench -- dynamodb service [new requests a second] [--quick]`: what a deployment carries, with functions, throttles and retries.
 * `npm run bench -- dynamodb --worst-day`: the dearest day that one address can cause.
 *
 * With `--check` the last three compare the documents that tell their figures, and end with 1 where these differ.
 */
import { runDynamoBench } from './runDynamoBench.ts';
import { runWorstDay } from './runWorstDay.ts';
import { runScaling } from './scaling/runScaling.ts';
import { runService } from './scaling/runService.ts';

/** New requests a second, unless told otherwise. */
const DEFAULT_RATE = 10_000;

const given = process.argv.slice(2).filter((argument) => argument !== 'dynamodb');
const [isQuick, isCheck] = [given.includes('--quick'), given.includes('--check')];
const [subject, number] = given.filter((argument) => argument !== '--quick' && argument !== '--check');
const rate = Number(number ?? DEFAULT_RATE);

async function run(): Promise<boolean> {
  if (subject === 'scaling') return await runScaling({ rate, isCheck });
  if (subject === 'service') return await runService({ rate, isQuick, isCheck });
  if (subject === '--worst-day') return await runWorstDay({ isCheck });
  return await runDynamoBench();
}

process.exitCode = (await run()) ? 0 : 1;
