/**
 * `npm run test:repeat -- [--times N] [--busy] [--shuffle] [what vitest takes]`: runs the tests of `npm test`, or those
 * that are named, again and again, beside busy loops and other programs of this project if asked to, and tells of each run what was red. It
 * ends with 0 if all were green.
 */
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { programs } from '../bin/programs.mjs';
import { describeRun, summarizeRuns } from './repeat/describeRuns.ts';
import { runTests, type TestRun } from './repeat/runTests.ts';
import { startNeighbours } from './repeat/startNeighbours.ts';

const TIMES = 20;
const OWN = { times: { type: 'string' }, busy: { type: 'boolean' }, shuffle: { type: 'boolean' } } as const;

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
// What is not its own is Vitest's: `--project acceptance`, or a file.
const { values, tokens } = parseArgs({ options: OWN, strict: false, allowPositionals: true, tokens: true });
const own = tokens.flatMap((token) =>
  token.kind === 'option' && token.name in OWN
    ? [token.index, ...(token.value === undefined || token.inlineValue === true ? [] : [token.index + 1])]
    : [],
);
const given = process.argv.slice(2).filter((_, index) => !own.includes(index));
const args = given.length === 0 ? programs.test.steps.flatMap((step) => step.args.slice(1)) : given;
const times = Number(values.times ?? TIMES);

const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());

async function repeat(): Promise<readonly TestRun[]> {
  const runs: TestRun[] = [];
  while (runs.length < times && !stopped.signal.aborted) {
    const run = await runTests({ signal: stopped.signal }, { args, isShuffled: values.shuffle === true });
    if (stopped.signal.aborted) break;
    runs.push(run);
    console.log(`${describeRun(run, { number: runs.length, times })}, load ${loadavg()[0]?.toFixed(1)}`);
  }
  return runs;
}

async function main(): Promise<number> {
  if (!Number.isInteger(times) || times < 1) {
    console.error('Give a number of runs: npm run test:repeat -- --times 20.');
    return 2;
  }
  const neighbours = values.busy === true ? await startNeighbours({ loops: availableParallelism() }) : undefined;
  try {
    if (neighbours !== undefined) console.log(`Beside: ${neighbours.names.join(', ')}`);
    const runs = await repeat();
    console.log(summarizeRuns(runs));
    return runs.length === times && runs.every(({ isGreen }) => isGreen) ? 0 : 1;
  } finally {
    await neighbours?.[Symbol.asyncDispose]();
  }
}

process.exitCode = await main();
