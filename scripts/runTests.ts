/** `npm test -- [SUITES] [--long] [what Vitest takes]`: runs the suites that are named, one after the other, or those of every day. */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { runNode } from '../bin/runNode.mjs';
import { installPackages } from './install.mjs';

/** What one option runs. */
interface Suite {
  readonly summary: string;
  /** Of Vitest. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Node is run with these first. */
  readonly before?: readonly (readonly string[])[];
  /** Folder with a lockfile of its own. */
  readonly installs?: string;
}

/** Parts of the full sizes, so that one takes some minutes on two cores. */
const PARTS = 16;
/** Their full sizes take up to an hour each. */
const LONGER_THAN_A_PART = [
  'packages/payments/test/crashMatrix.test.ts',
  'packages/payments/test/operatorMatrix.test.ts',
  'packages/payments/test/randomRuns.test.ts',
  'packages/sender/test/randomRuns.test.ts',
  'packages/relayer/test/junk/junk.test.ts',
];
const MAX_SEED = 2 ** 31;

const projects = (...names: readonly string[]) => names.flatMap((name) => ['--project', name]);
const EVERY_DAY = projects('packages', 'acceptance');
const ALL = [...EVERY_DAY, ...projects('campaigns', 'browser')];

const SUITES: Readonly<Record<string, Suite>> = {
  '--campaigns': {
    summary: 'many real processes against many faults at once, by chance',
    args: projects('campaigns'),
  },
  '--browser': {
    summary: 'the console, the docs page and the example page in a real Chromium',
    args: projects('browser'),
  },
  '--infra': {
    summary: 'the stack for AWS',
    args: projects('infra'),
    installs: 'infra',
    before: [['scripts/buildLambda.ts'], ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'infra']],
  },
  '--deploy': {
    summary: "image, nginx, systemd, Prometheus and Kubernetes files, with Debian's own tools",
    args: projects('deploy'),
  },
  '--packages': {
    summary: 'installs the published packages into fresh folders, as users do (needs a registry)',
    args: projects('consumers'),
  },
  '--commands': {
    summary: 'runs every command that the documents name',
    args: projects('commands'),
  },
  '--dynamodb-local': {
    summary: "the DynamoDB tests on AWS's own engine (needs Java 17)",
    args: [
      ...projects('packages', 'campaigns'),
      ...['src/drivers/dynamodb', 'test/races', 'test/faults', 'src/entry/openStores.test.ts'].map(
        (path) => `packages/gateway/${path}`,
      ),
    ],
    env: { DYNAMODB_ENGINE: 'dynamodb-local' },
  },
};

const LINES = [
  ...Object.entries(SUITES).map(([option, { summary }]) => [option, summary] as const),
  ['--long', 'full sizes: of the suites that are named, else of all tests, campaigns and browser'] as const,
  ['--long-part', 'full sizes of a few files, chosen by the commit; TEST_SEED repeats a run'] as const,
];
const HELP = `npm test -- [SUITES] [--long] [FILES and options of Vitest]

Without a suite: unit, contract, property and acceptance tests.

${LINES.map(([option, summary]) => `  ${option.padEnd(20)}${summary}`).join('\n')}

Vitest's own: -t NAME, --sequence.shuffle, --bail 1; npx vitest --help lists them. Twenty times in a row:
  for i in $(seq 20); do npm test -- FILE --sequence.shuffle || break; done`;

/** The files of one part of those that know a full size: each commit has its own, and all have their turn. */
function choosePart(): Suite {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  const turn = Number.parseInt(commit.slice(0, 8), 16) % PARTS;
  const seed = process.env.TEST_SEED ?? String(randomInt(MAX_SEED));
  const files = globSync(['{packages,acceptance,demo}/**/*.test.ts', 'bin/*.test.ts'], {
    exclude: (path) => path.endsWith('node_modules'),
  })
    .filter((file) => !LONGER_THAN_A_PART.includes(file))
    .filter((file) => /from '.*\btest-?size(\.ts)?'/i.test(readFileSync(file, 'utf8')))
    .sort()
    .filter((_, index) => index % PARTS === turn);
  console.log(`Part ${turn + 1} of ${PARTS}, TEST_SEED=${seed}: ${files.join(', ')}`);
  const env = { TEST_LONG: '1', TEST_SEED: seed, FUZZ_SEED: seed, FC_SEED: seed };
  return { summary: '', args: [...ALL, ...files], env };
}

/** @returns exit status of the first step that failed, or 0 */
async function run({ args, env = {}, before = [], installs }: Suite, rest: readonly string[]): Promise<number> {
  if (installs !== undefined) installPackages({ folder: installs, contents: `the dependencies of ${installs}/` });
  for (const step of [...before, ['node_modules/vitest/vitest.mjs', 'run', ...args, ...rest]]) {
    const status = await runNode({ node: process.execPath, args: step, env: { ...process.env, ...env } });
    if (status !== 0) return status;
  }
  return 0;
}

async function main(words: readonly string[]): Promise<number> {
  if (words.includes('--help')) {
    console.log(HELP);
    return 0;
  }
  const isLong = words.includes('--long');
  const named = words.flatMap((word) => (word === '--long-part' ? [choosePart()] : (SUITES[word] ?? [])));
  const rest = words.filter((word) => SUITES[word] === undefined && !/^--long(-part)?$/.test(word));
  const suites = named.length > 0 ? named : [{ summary: '', args: isLong ? ALL : EVERY_DAY }];
  for (const suite of suites) {
    const status = await run(isLong ? { ...suite, env: { ...suite.env, TEST_LONG: '1' } } : suite, rest);
    if (status !== 0) return status;
  }
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
