import type { TestRun } from './runTests.ts';

/**
 * Tells of one run in a line, and of what was red in a line each.
 *
 * @param place - which run of how many
 */
export function describeRun(
  run: TestRun,
  { number, times }: { readonly number: number; readonly times: number },
): string {
  const { isGreen, seed, seconds, passed, failed, skipped, red, log } = run;
  const names = isGreen ? [] : [...red.map((name) => `  red: ${name}`), `  its log: ${log}`];
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  return [
    ...names,
    `Run ${number} of ${times}: ${isGreen ? 'green' : 'RED'} in ${seconds.toFixed(0)} s, ${counts}, seed ${seed}`,
  ].join('\n');
}

/** Tells how many runs were green, and what was red how often. */
export function summarizeRuns(runs: readonly TestRun[]): string {
  const green = runs.filter(({ isGreen }) => isGreen).length;
  const times = new Map<string, number>();
  for (const name of runs.flatMap(({ red }) => red)) times.set(name, (times.get(name) ?? 0) + 1);
  const red = [...times].map(([name, count]) => `  red ${count} times: ${name}`);
  return [`${green} of ${runs.length} runs were green.`, ...red].join('\n');
}
