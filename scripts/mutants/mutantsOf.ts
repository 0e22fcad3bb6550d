import type { Change, Mutant } from './mutant.ts';

/**
 * Makes the mutants of one file, watched by the same tests.
 *
 * @param file - from the repository's root
 * @param tests - test files, from the root
 * @param changes - of the file
 * @returns one mutant a change
 */
export function mutantsOf(file: string, tests: readonly string[], changes: readonly Change[]): Mutant[] {
  return changes.map(([find, replace, survives]) => ({ file, tests, find, replace, ...(survives && { survives }) }));
}
