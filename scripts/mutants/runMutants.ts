import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyMutant } from './applyMutant.ts';
import { compileMutant } from './compileMutant.ts';
import type { Mutant } from './mutant.ts';

interface Bench {
  /** Path of a copy of the repository, which is spoilt. */
  readonly copy: string;
  /** Takes a line about each mutant. */
  readonly print: (line: string) => void;
}

/** The tests' verdict: all is well, some of them failed, or they could not be run. */
type Verdict = 'passed' | 'failed' | 'broken';

/** A mutant that hangs is noticed too: how long a test of a mutant may take, in milliseconds, against seconds on an idle machine. */
const HANG_MS = 120_000;

/**
 * Tries mutants one after the other; before that, all their tests on the sources as they are, which must pass.
 *
 * @param bench - where, and what prints
 * @param mutants - what is tried
 * @returns whether each was noticed, or is known to make no difference
 */
export async function runMutants(bench: Bench, mutants: readonly Mutant[]): Promise<boolean> {
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
  if ((await runTests(bench, tests)) !== 'passed') {
    bench.print(`The tests do not pass as things are: ${tests.join(' ')}`);
    return false;
  }
  let isWell = true;
  for (const [index, mutant] of mutants.entries()) {
    const path = join(bench.copy, mutant.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, applyMutant(source, mutant));
    const verdict = await tryMutant(bench, mutant);
    writeFileSync(path, source);
    const isExpected = verdict === (mutant.survives === undefined ? 'failed' : 'passed');
    isWell &&= isExpected;
    bench.print(describe(mutant, { verdict, number: index + 1, isExpected }));
  }
  bench.print(`${mutants.length} mutants; ${isWell ? 'each was noticed or is explained' : 'see those marked !!'}.`);
  return isWell;
}

/** Contracts are compiled first; one that does not compile says nothing. */
async function tryMutant(bench: Bench, { file, tests }: Mutant): Promise<Verdict> {
  if (!file.endsWith('.sol')) return await runTests(bench, tests);
  const { isCompiled, restore } = await compileMutant(bench.copy, file);
  const verdict = isCompiled ? await runTests(bench, tests) : 'broken';
  restore();
  return verdict;
}

function describe(
  { file, find, replace, survives }: Mutant,
  { verdict, number, isExpected }: { readonly verdict: Verdict; readonly number: number; readonly isExpected: boolean },
): string {
  const said = { failed: 'killed', passed: 'survived', broken: 'broken' }[verdict];
  const change = `${find.replaceAll('\n', '⏎')}  →  ${replace.replaceAll('\n', '⏎') || '(nothing)'}`;
  const why = survives === undefined ? '' : `\n          ${survives}`;
  return `${isExpected ? '  ' : '!!'} ${String(number).padStart(3)} ${said.padEnd(9)} ${file}: ${change}${why}`;
}

/** Runs test files in the copy. A file that cannot even be loaded says nothing about a mutant. */
async function runTests({ copy }: Bench, files: readonly string[]): Promise<Verdict> {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const args = ['run', '--bail=1', `--testTimeout=${HANG_MS}`, '--reporter=json', `--outputFile=${report}`, ...files];
  const child = spawn(process.execPath, [join(copy, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: copy,
    stdio: 'ignore',
  });
  const [status] = await once(child, 'close');
  if (status === 0) return 'passed';
  try {
    return JSON.parse(readFileSync(report, 'utf8')).numFailedTests > 0 ? 'failed' : 'broken';
  } catch {
    return 'broken';
  }
}
