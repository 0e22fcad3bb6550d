import type { Mutant } from './mutant.ts';

/** A mutant whose place is gone: the list must follow the code. */
export class MutantLostError extends Error {
  override readonly name = 'MutantLostError';
  readonly code = 'MUTANT_LOST';

  constructor({ file, find }: Mutant, count: number) {
    super(`${file} holds ${count} times instead of once: ${find}`);
  }
}

/**
 * Changes a source as a mutant says.
 *
 * @param source - of the mutant's file
 * @param mutant - what is changed
 * @throws MutantLostError (`MUTANT_LOST`) unless what is changed stands there exactly once
 */
export function applyMutant(source: string, mutant: Mutant): string {
  const parts = source.split(mutant.find);
  if (parts.length !== 2) throw new MutantLostError(mutant, parts.length - 1);
  return parts.join(mutant.replace);
}
