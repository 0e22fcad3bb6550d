/**
 * `npm run bench -- dynamodb`: read and write units; `DYNAMODB_ENGINE=dynamodb-local` has AWS's own engine count them.
 * `npm run bench -- dynamodb scaling [new requests a second]`: how many shards a rate needs.
 */
import { runDynamoBench } from './runDynamoBench.ts';
import { runScaling } from './scaling/runScaling.ts';

/** New requests a second, unless told otherwise. */
const DEFAULT_RATE = 10_000;

const [subject, rate] = process.argv.slice(2).filter((argument) => argument !== 'dynamodb');
if (subject === 'scaling') runScaling(Number(rate ?? DEFAULT_RATE));
else process.exitCode = (await runDynamoBench()) ? 0 : 1;
