import { ChainError } from './chainError.ts';

/** Blocks of the first query: what most providers allow. */
const FIRST_RANGE = 10_000n;
/** By how much queries grow while nothing is refused, and shrink if one is. */
const FACTOR = 4n;
/** No provider allows fewer blocks. */
const SMALLEST_RANGE = 10n;
/** Queries of the learned width after which a wider one is tried: what was refused may have failed for another reason. */
const TRY_WIDER_AFTER = 16;

/** Blocks by number; both ends belong to it. */
export interface BlockRange {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

/** Reads a range in several queries, newest blocks first. @param read - undefined if the node refuses so wide a range */
export type WalkBack = <T>(
  range: BlockRange,
  read: (range: BlockRange) => Promise<T | undefined>,
) => AsyncGenerator<T, void>;

/**
 * Makes the walk through blocks whose logs are read. Nodes limit how many blocks a query of logs may cover, each in its own words: a
 * refused range is tried again smaller, and what was learned of the limit is kept for the next walks, for a while.
 */
export function createWalkBack(): WalkBack {
  let size = FIRST_RANGE;
  /** Queries of that width until a wider one is tried. */
  let untilWider = 0;

  function learnRefusal(span: bigint): void {
    if (span <= SMALLEST_RANGE) {
      // It refuses everything: not for the width.
      size = FIRST_RANGE;
      untilWider = 0;
      throw new ChainError('RPC_UNAVAILABLE', 'The node refuses every query of logs.');
    }
    untilWider = TRY_WIDER_AFTER;
    size = span / FACTOR > SMALLEST_RANGE ? span / FACTOR : SMALLEST_RANGE;
  }

  return async function* walkBack({ fromBlock, toBlock }, read) {
    for (let last = toBlock; last >= fromBlock; ) {
      const first = last - size + 1n > fromBlock ? last - size + 1n : fromBlock;
      const found = await read({ fromBlock: first, toBlock: last });
      if (found === undefined) {
        learnRefusal(last - first + 1n);
        continue;
      }
      if (last - first + 1n === size) {
        untilWider = Math.max(0, untilWider - 1);
        if (untilWider === 0) size *= FACTOR;
      }
      last = first - 1n;
      yield found;
    }
  };
}
