import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { applyMutant } from '../../../scripts/mutants/applyMutant.ts';
import type { Mutant } from '../../../scripts/mutants/mutant.ts';
import { mutants } from '../../../scripts/mutants/mutants.ts';
import { UsageError } from './readOptions.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A mutant in one line. */
export const describeMutant = ({ file, find, replace }: Mutant): string =>
  `${file}: ${find} → ${replace || '(nothing)'}`.replaceAll('\n', '⏎');

/** Mutants of the programs that are simulated; those that make no difference are left out. */
export const listMutants = (word: string): readonly Mutant[] =>
  mutants.filter(
    (mutant) => mutant.file.endsWith('.ts') && mutant.survives === undefined && describeMutant(mutant).includes(word),
  );

/** Has a file of the programs loaded as a mutant changes it. @throws UsageError if no mutant holds the word */
export function spoil(word: string): void {
  const [mutant] = listMutants(word);
  if (mutant === undefined) throw new UsageError(`--mutant: no mutant holds ${word}`);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (url !== new URL(mutant.file, `file://${root}`).href) return loaded;
      return { ...loaded, source: applyMutant(String(loaded.source), mutant) };
    },
  });
}
