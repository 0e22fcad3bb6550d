import type { Environment } from './parseEnvironment.ts';
import { type Settings, secretNames } from './setting.ts';

/** Fewest edits that make one word of the other; all that counts is whether they are more than `most`. */
function areNear(one: string, other: string, most: number): boolean {
  if (one === other) return true;
  if (most === 0 || Math.abs(one.length - other.length) > most) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  const [a, b] = [one.slice(start), other.slice(start)];
  return (
    areNear(a.slice(1), b, most - 1) || areNear(a, b.slice(1), most - 1) || areNear(a.slice(1), b.slice(1), most - 1)
  );
}

/** From this length on two letters may differ. */
const LONG_NAME = 8;

/**
 * Finds settings that were probably meant by variables of other names: `PORTT`, `DATADIR`.
 *
 * @returns a sentence each, without any value
 */
export function findMisspelt(settings: Settings, environment: Environment): readonly string[] {
  const known = new Set([...Object.keys(settings), ...secretNames(settings).map((name) => `${name}_FILE`)]);
  const bare = (name: string) => name.replaceAll('_', '');
  return Object.keys(environment)
    .filter((name) => !known.has(name) && /^[A-Z][A-Z0-9_]{3,63}$/.test(name))
    .flatMap((name) => {
      const most = name.length < LONG_NAME ? 1 : 2;
      const meant = [...known].find((candidate) => areNear(bare(name), bare(candidate), most));
      return meant === undefined ? [] : [`There is no setting ${name}. Probably ${meant} is meant.`];
    });
}
