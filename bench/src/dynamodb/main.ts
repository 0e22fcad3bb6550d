/**
 * `npm run bench -- dynamodb`: read and write units; `DYNAMODB_ENGINE=dynamodb-local` has AWS's own engine count them.
 * `npm run bench -- dynamodb scaling [new requests a second]`: how many shards a rate needs.
 * `npm run bench -- dynamodb service [new requests a second] [--quick]`: what a deployment carries, with functions, throttles and retries.
 * `npm run bench -- dynamodb --worst-day`: the dearest day that one address can cause.
 */
import { runDynamoBench } from './runDynamoBench.ts';
import { runWorstDay } from './runWorstDay.ts';
import { runScaling } from './scaling/runScaling.ts';
import { runService } from './scaling/runService.ts';

/** New requests a second, unless told otherwise. */
const DEFAULT_RATE = 10_000;

const given = process.argv.slice(2).filter((argument) => argument !== 'dynamodb');
const [subject, rate] = given.filter((argument) => argument !== '--quick');
if (subject === 'scaling') runScaling(Number(rate ?? DEFAULT_RATE));
else if (subject === 'service') runService({ rate: Number(rate ?? DEFAULT_RATE), isQuick: given.includes('--quick') });
else if (subject === '--worst-day') process.exitCode = (await runWorstDay()) ? 0 : 1;
else process.exitCode = (await runDynamoBench()) ? 0 : 1;
