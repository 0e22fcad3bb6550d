import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { describeRun, summarizeRuns } from './describeRuns.ts';
import { runTests } from './runTests.ts';

const config = ['--config', 'scripts/repeat/cases/vitest.config.ts'];
const run = (args: readonly string[]) =>
  runTests({ signal: new AbortController().signal }, { args: [...config, ...args], isShuffled: true });

test('a run is told with its counts, and by name what was red', async () => {
  const [green, both] = await Promise.all([run(['green']), run([])]);
  expect(green).toMatchObject({ isGreen: true, passed: 1, failed: 0, red: [] });
  expect(both).toMatchObject({ isGreen: false, passed: 1, failed: 1 });
  const red = 'scripts/repeat/cases/red.case.ts > is red';
  expect(both.red).toEqual([red]);
  expect(await readFile(both.log, 'utf8')).toContain(`${both.seed}`);
  await rm(dirname(both.log), { recursive: true });

  expect(describeRun(green, { number: 1, times: 2 })).toMatch(
    /^Run 1 of 2: green in \d+ s, 1 passed, 0 failed, 0 skipped, seed \d+$/,
  );
  expect(describeRun(both, { number: 2, times: 2 })).toContain(`red: ${red}\n`);
  expect(summarizeRuns([green, both])).toBe(`1 of 2 runs were green.\n  red 1 times: ${red}`);
});
