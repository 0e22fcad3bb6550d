/**
 * `npm run coverage:contracts`: runs the contracts' tests on a chain that traces, with the contracts compiled without the optimiser, and prints
 * which lines and branches of theirs were executed. Exits 1 below 98 %. It works in a copy of the repository.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { copyRepository } from './mutants/copyRepository.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = 'packages/contracts';
/** Not those about gas, which is another without the optimiser, about what is compiled, and whose transactions are too long to trace. */
const LEFT_OUT = ['gas', 'generatedSources', 'campaign'].map((name) => `${name}.test.ts`);

async function run(
  copy: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const child = spawn(process.execPath, args, { cwd: copy, stdio: 'inherit', env: { ...process.env, ...env } });
  const [status] = await once(child, 'close');
  return status === 0;
}

/** A traced test takes some ten times as long. */
const TEST_MS = 3_600_000;

/** Compiles in the copy. */
async function compile(copy: string, to: string): Promise<boolean> {
  const script = join(folder, 'scripts/compileForTracing.ts');
  const child = spawn(process.execPath, [script], { cwd: copy, stdio: ['ignore', 'pipe', 'inherit'] });
  const written = finished(child.stdout.pipe(createWriteStream(to)));
  const [status] = await once(child, 'close');
  await written;
  return status === 0;
}

async function main(): Promise<number> {
  const copy = await mkdtemp(join(tmpdir(), 'prism-coverage-'));
  const [compiled, traces] = [join(copy, 'compiled.json'), join(copy, 'traces')];
  try {
    copyRepository(root, copy);
    mkdirSync(traces);
    if (!(await compile(copy, compiled))) return 1;
    const tests = readdirSync(join(root, folder, 'test')).filter(
      (name) => name.endsWith('.test.ts') && !LEFT_OUT.includes(name),
    );
    const files = tests.map((name) => join(folder, 'test', name));
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=dot', `--testTimeout=${TEST_MS}`, ...files];
    const isGreen = await run(copy, vitest, { CONTRACT_TRACES: traces });
    const isCovered = await run(copy, [join(folder, 'scripts/reportCoverage.ts'), compiled, traces]);
    return isGreen && isCovered ? 0 : 1;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

process.exitCode = await main();
