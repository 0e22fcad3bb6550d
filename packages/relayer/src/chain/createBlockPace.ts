import type { BlockHead } from './chainReader.ts';

/** Seconds from one block to the next that are taken for granted, as long as it is not known, and at most. */
const SLOWEST_SECONDS = 15n;
/** After so many blocks what was seen before is forgotten: chains change their pace. */
const MEMORY_BLOCKS = 100n;

type Seen = Pick<BlockHead, 'number' | 'timestamp'>;

/** How fast a chain makes blocks. */
export interface BlockPace {
  note(head: Seen): void;
  /** How long some blocks take, in seconds, rounded up. */
  secondsOf(blocks: bigint): bigint;
}

/** Makes the measure of a chain's pace, by the newest blocks that were read. One that makes blocks for transactions alone counts as a slow one. */
export function createBlockPace(): BlockPace {
  let [first, middle, last]: (Seen | undefined)[] = [];
  return {
    note(head) {
      if (last !== undefined && head.number <= last.number) return;
      last = head;
      first ??= head;
      if (head.number - first.number < MEMORY_BLOCKS / 2n) middle = head;
      if (head.number - first.number > MEMORY_BLOCKS) [first, middle] = [middle, head];
    },
    secondsOf(blocks) {
      if (first === undefined || last === undefined || first.number === last.number) return blocks * SLOWEST_SECONDS;
      const [seconds, passed] = [last.timestamp - first.timestamp, last.number - first.number];
      const measured = (seconds * blocks + passed - 1n) / passed;
      return measured < blocks * SLOWEST_SECONDS ? measured : blocks * SLOWEST_SECONDS;
    },
  };
}
