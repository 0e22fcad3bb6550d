import { randomInt } from 'node:crypto';
import { createSeededRandom } from './faults/createSeededRandom.ts';

/** Whether tests run in their full size (`TEST_LONG=1`) or in the small one of every day. */
export const isLong = process.env.TEST_LONG === '1';

/**
 * Chooses a number by the size that tests run in.
 *
 * @param sizes - the number in the small size and in the full one
 * @returns one of the two
 */
export function sized(sizes: { readonly small: number; readonly long: number }): number {
  return isLong ? sizes.long : sizes.small;
}

/** How a list is drawn from. */
export interface Draw {
  /** The name of the drawn value, for whoever repeats the run. */
  readonly of: string;
  /** How many in the small size. */
  readonly small: number;
  /** Default: `TEST_SEED`, or another one each time. */
  readonly seed?: number;
}

/**
 * Chooses what of many cases of one claim is tested: all in the full size; in the small one some, others each time. It prints the seed.
 *
 * @returns the chosen ones, in the order of the list
 */
export function drawSome<T>(cases: readonly T[], { of, small, seed }: Draw): readonly T[] {
  if (isLong || cases.length <= small) return cases;
  const chosenBy = seed ?? Number(process.env.TEST_SEED ?? randomInt(2 ** 31));
  const random = createSeededRandom(chosenBy);
  const places = cases.map((_, place) => ({ place, at: random() }));
  const drawn = places.toSorted((a, b) => a.at - b.at).slice(0, small);
  const kept = new Set(drawn.map(({ place }) => place));
  console.info(`${of}: cases ${[...kept].join(', ')} of ${cases.length}; TEST_SEED=${chosenBy}`);
  return cases.filter((_, place) => kept.has(place));
}
