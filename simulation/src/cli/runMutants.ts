import type { Mutant } from '../../../scripts/mutants/mutant.ts';
import { brokenBy, commandOf, inParallel, runWorld } from './runWorld.ts';
import { describeMutant, listMutants } from './spoil.ts';

/**
 * Lives a world with each of some mutants, and says which of them it notices.
 *
 * @param word - of the mutants' files or changes
 * @param args - of the world
 * @returns exit status: 0 if each was noticed
 */
export async function runMutants(word: string, args: readonly string[], jobs: number): Promise<number> {
  const usual = brokenBy(await runWorld(args));
  console.log(`${commandOf(args)} as things are: ${usual.join(', ') || 'holds'}`);
  // A breach that comes anyway would end the world at once.
  const stops = usual.length === 0 ? ['--stop-at', 'any'] : [];
  let missed = 0;
  await inParallel(listMutants(word), jobs, async (mutant: Mutant) => {
    const name = describeMutant(mutant);
    const summary = await runWorld([...args, ...stops, '--mutant', name]);
    const found = brokenBy(summary).filter((invariant) => !usual.includes(invariant));
    if (found.length === 0) missed++;
    const minutes = Math.ceil(summary.virtualMs / 60_000);
    console.log(`${found.length === 0 ? '!! not noticed' : found.join(', ')} (${minutes} min)  ${name}`);
  });
  console.log(missed === 0 ? 'Each was noticed.' : `${missed} were not noticed.`);
  return missed === 0 ? 0 : 1;
}
