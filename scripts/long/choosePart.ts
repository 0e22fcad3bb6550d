import type { LongPart } from './longParts.ts';

/** Digits of a commit's hash that the choice is made by. */
const DIGITS = 8;

/**
 * Chooses a part by a commit, so that each commit has its own and all have their turn.
 *
 * @param parts - at least one
 * @param commit - its hash, in hexadecimal
 */
export function choosePart(parts: readonly LongPart[], commit: string): LongPart {
  // The remainder is an index of the list.
  return parts[Number.parseInt(commit.slice(0, DIGITS), 16) % parts.length]!;
}
