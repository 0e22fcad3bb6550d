import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const MAX_SEED = 2 ** 31;

/** What came of one run of the tests. */
export interface TestRun {
  readonly isGreen: boolean;
  readonly seed: number;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Files and names of the tests that failed; of a file that could not be run, the file. */
  readonly red: readonly string[];
  /** What it printed; kept if it was red. */
  readonly log: string;
}

/** What is read here of the report of Vitest. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

const EMPTY: Report = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, testResults: [] };

function listRed({ testResults }: Report): readonly string[] {
  return testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults }) => {
      const file = name.replace(`${process.cwd()}/`, '');
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      return failed.length === 0 ? [file] : failed.map(({ fullName }) => `${file} > ${fullName}`);
    });
}

/**
 * Runs the tests once, with a fresh seed for all that is random in them.
 *
 * @param context.signal - ends it
 * @param params.args - files and options for Vitest
 * @param params.isShuffled - whether files and tests run in the order that the seed gives
 * @returns what came of it; it is green if Vitest says so
 */
export async function runTests(
  { signal }: { readonly signal: AbortSignal },
  { args, isShuffled }: { readonly args: readonly string[]; readonly isShuffled: boolean },
): Promise<TestRun> {
  const folder = await mkdtemp(join(tmpdir(), 'prism-test-run-'));
  const [report, log] = [join(folder, 'report.json'), join(folder, 'log')];
  const seed = randomInt(MAX_SEED);
  const output = await open(log, 'w');
  const startedMs = performance.now();
  const order = isShuffled ? ['--sequence.shuffle', `--sequence.seed=${seed}`] : [];
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const child = spawn(process.execPath, [VITEST, 'run', ...reporters, ...order, ...args], {
    env: { ...process.env, TEST_SEED: `${seed}`, FUZZ_SEED: `${seed}`, FC_SEED: `${seed}` },
    stdio: ['ignore', output.fd, output.fd],
  });
  const end = () => child.kill('SIGINT');
  signal.addEventListener('abort', end);
  const [code] = await once(child, 'close');
  signal.removeEventListener('abort', end);
  await output.close();
  // Where Vitest could not even begin there is none.
  const told: Report = await readFile(report, 'utf8').then(JSON.parse, () => EMPTY);
  const isGreen = code === 0;
  if (isGreen) await rm(folder, { recursive: true });
  return {
    ...{ isGreen, seed, log, red: listRed(told), seconds: (performance.now() - startedMs) / 1000 },
    ...{ passed: told.numPassedTests, failed: told.numFailedTests, skipped: told.numPendingTests },
  };
}
