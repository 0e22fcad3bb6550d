/** `npm test -- [SUITES] [--long] [what Vitest takes]`: runs the suites that are named, one after the other, or those of every day. */
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '@prism-gateway/gateway/embedded-postgres';
import { runNode } from '../bin/runNode.mjs';
import { installPackages } from './install.mjs';

/** The suite of one option. */
interface Suite {
  readonly summary: string;
  /** Of Vitest. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Node is run with these first. */
  readonly before?: readonly (readonly string[])[];
  /** Folder with a lockfile of its own. */
  readonly installs?: string;
  /** Whether its gateways start on copies of a new PostgreSQL's data: to make them takes seconds each. */
  readonly copiesPostgres?: true;
}

const projects = (...names: readonly string[]) => names.flatMap((name) => ['--project', name]);
const EVERY_DAY = projects('packages', 'acceptance');
const ALL = [...EVERY_DAY, ...projects('campaigns', 'browser')];

const SUITES: Readonly<Record<string, Suite>> = {
  '--campaigns': {
    summary: 'gateways killed by chance under load, on a real disk',
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
  '--postgres': {
    summary: 'the acceptance tests and the attacks on gateways that keep their queue in PostgreSQL',
    args: [...projects('acceptance', 'packages'), 'acceptance/', 'packages/gateway/test/attacks'],
    env: { TEST_STORE: 'postgres' },
    copiesPostgres: true,
  },
  '--dynamodb-local': {
    summary: "the DynamoDB tests on AWS's own engine (needs Java 17)",
    args: [
      ...projects('packages'),
      ...['src/drivers/dynamodb', 'test/faults', 'src/entry/openStores.test.ts'].map(
        (path) => `packages/gateway/${path}`,
      ),
    ],
    env: { DYNAMODB_ENGINE: 'dynamodb-local' },
  },
};

const LINES = [
  ...Object.entries(SUITES).map(([option, { summary }]) => [option, summary] as const),
  ['--long', 'full sizes: of the suites that are named, else of all tests, campaigns and browser'] as const,
];
const HELP = `npm test -- [SUITES] [--long] [FILES and options of Vitest]

Without a suite: unit, contract, property and acceptance tests.

${LINES.map(([option, summary]) => `  ${option.padEnd(20)}${summary}`).join('\n')}

Vitest's own: -t NAME, --sequence.shuffle, --bail 1; npx vitest --help lists them. Twenty times in a row:
  for i in $(seq 20); do npm test -- FILE --sequence.shuffle || break; done`;

/** Makes a new PostgreSQL's data, which need not outlive the machine. */
async function makePostgres(folder: string): Promise<Record<string, string>> {
  const server = await startEmbedded({ folder });
  await server.stop();
  appendFileSync(join(folder, 'data', 'postgresql.conf'), 'fsync = off\n');
  return { TEST_POSTGRES: folder };
}

async function runSuite(suite: Suite, rest: readonly string[]): Promise<number> {
  if (suite.copiesPostgres === undefined) return await run(suite, rest);
  const folder = mkdtempSync(join(tmpdir(), 'prism-postgres-'));
  try {
    return await run({ ...suite, env: { ...suite.env, ...(await makePostgres(join(folder, 'postgres'))) } }, rest);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
  const named = words.flatMap((word) => SUITES[word] ?? []);
  const rest = words.filter((word) => SUITES[word] === undefined && word !== '--long');
  const suites = named.length > 0 ? named : [{ summary: '', args: isLong ? ALL : EVERY_DAY }];
  for (const suite of suites) {
    const status = await runSuite(isLong ? { ...suite, env: { ...suite.env, TEST_LONG: '1' } } : suite, rest);
    if (status !== 0) return status;
  }
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
