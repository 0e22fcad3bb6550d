/** `prism simulate`: lives the whole world in virtual time, from one seed. */
import { writeFileSync } from 'node:fs';
import { describe, writeEvent, writeStory } from './cli/describe.ts';
import { quicken } from './cli/quicken.ts';
import { readArgs, readOptions, UsageError, usage, type Values, writeOptions } from './cli/readOptions.ts';
import { runKnown } from './cli/runKnown.ts';
import { runMutants } from './cli/runMutants.ts';
import { runNights } from './cli/runNights.ts';
import { commandOf } from './cli/runWorld.ts';
import { shrink } from './cli/shrink.ts';
import { spoil } from './cli/spoil.ts';
import { writeReport } from './report.ts';
import type { Progress, SimulationOptions } from './simulate.ts';

/** The arguments that repeat a run: with the seed that was drawn. */
const withSeed = (args: readonly string[], seed: string): readonly string[] =>
  args.some((arg) => arg.startsWith('--seed')) ? args : ['--seed', seed, ...args];

function sayProgress({ virtualMs, realMs, requests, ended, breaches }: Progress): void {
  const speed = Math.round(virtualMs / realMs);
  const hours = (virtualMs / 3_600_000).toFixed(1);
  console.log(`${hours} h  ${requests} requests, ${ended} ended, ${breaches} breaches; ${speed} × real time`);
}

/** Lives one world, and says what it has shown. */
async function live(options: SimulationOptions, values: Values, command: string): Promise<number> {
  if (values.mutant !== undefined) spoil(values.mutant);
  quicken();
  // The modules that it loads are changed by then.
  const { simulate, summarise } = await import('./simulate.ts');
  const result = await simulate({
    ...options,
    ...(values.log === true && { onEvent: (event) => console.log(writeEvent(event)) }),
    ...(values.json !== true && { onProgress: sayProgress }),
  });
  console.log(values.json === true ? JSON.stringify(summarise(result)) : describe(result, command));
  if (values.report !== undefined) writeFileSync(values.report, writeReport(result, command));
  if (values.story !== undefined) console.log(writeStory(result.story(values.story)).join('\n'));
  return result.breaches.length === 0 ? 0 : 1;
}

/** @throws UsageError */
async function main(args: readonly string[]): Promise<number> {
  const { values } = readArgs(args);
  if (values.help === true) {
    console.log(usage);
    return 0;
  }
  const jobs = Number(values.jobs ?? (values.ci === true ? 2 : 1));
  if (!Number.isInteger(jobs) || jobs < 1) throw new UsageError('--jobs: expected a whole number of at least 1');
  if (values.ci === true) return await runKnown(jobs);
  const { seed = String(Date.now() % 1_000_000) } = values;
  const options = readOptions(values, seed);
  const { shrink: invariant, mutant } = values;
  if (invariant !== undefined) {
    return await shrink(options, { invariant, further: mutant === undefined ? [] : ['--mutant', mutant] });
  }
  if (values.mutants !== undefined) return await runMutants(values.mutants, writeOptions(options), jobs);
  if (values.nights === true)
    return await runNights(
      args.filter((arg, i) => arg !== '--nights' && arg !== '--jobs' && args[i - 1] !== '--jobs'),
      jobs,
    );
  return await live(options, values, commandOf(withSeed(args, seed)));
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}. Try --help.`);
  process.exit(2);
}
