/**
 * `npx prism mutate [WORD…]`: spoils the modules that carry promises, one change at a time in a copy of the repository, and sees that a test
 * fails each time. Words choose the mutants whose file or change holds one of them.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyRepository } from './mutants/copyRepository.ts';
import { mutants } from './mutants/mutants.ts';
import { runMutants } from './mutants/runMutants.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

async function main(words: readonly string[]): Promise<number> {
  const chosen = mutants.filter(
    ({ file, find }) => words.length === 0 || words.some((word) => `${file} ${find}`.includes(word)),
  );
  const copy = await mkdtemp(join(tmpdir(), 'prism-mutants-'));
  try {
    copyRepository(root, copy);
    return (await runMutants({ copy, print: console.log }, chosen)) ? 0 : 1;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv.slice(2));
