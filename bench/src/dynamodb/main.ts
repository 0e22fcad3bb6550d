/**
 * `npm run bench -- dynamodb`: read and write units; `DYNAMODB_ENGINE=dynamodb-local` has AWS's own engine count them.
 * `npm run bench -- dynamodb --worst-day`: the dearest day that one address can cause. With `--check` it compares the document that tells
 * its figures, and ends with 1 where these differ.
 */
import { runDynamoBench } from './runDynamoBench.ts';
import { runWorstDay } from './runWorstDay.ts';

const given = process.argv.slice(2);
const isKept = given.includes('--worst-day')
  ? await runWorstDay({ isCheck: given.includes('--check') })
  : await runDynamoBench();
process.exitCode = isKept ? 0 : 1;
