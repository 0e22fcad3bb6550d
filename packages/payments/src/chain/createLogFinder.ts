import { type Hex, keccak256 } from 'viem';

/** Hexadecimal digits of a block's filter of logs, and the `0x` before them. */
const BLOOM_LENGTH = 2 + 2 * 256;
/** Bits that an item sets. */
const BITS_EACH = 3;
const BITS_A_BLOOM = 2048;

/** The bits that an address or a topic sets. */
function listBits(item: Hex): readonly number[] {
  const hash = keccak256(item, 'bytes');
  return Array.from({ length: BITS_EACH }, (_, index) => {
    const at = index * 2;
    return (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) % BITS_A_BLOOM;
  });
}

/**
 * Prepares to check whether blocks may hold a log of something; a filter errs on the side of "may". What is hashed is hashed once.
 *
 * @param items - addresses and topics, all of which the log would have
 * @returns checks a block by `logsBloom` of its header, 256 bytes; false: the block has no such log, for certain
 * @see Ethereum Yellow Paper, section 4.3.1
 */
export function createLogFinder(items: readonly Hex[]): (logsBloom: Hex) => boolean {
  // The lowest bit is that of the last digit.
  const marks = items.flatMap(listBits).map((bit) => ({ back: 1 + (bit >> 2), mask: 1 << (bit & 3) }));
  return (logsBloom) => {
    if (logsBloom.length !== BLOOM_LENGTH) return true;
    return marks.every(({ back, mask }) => (Number.parseInt(logsBloom[BLOOM_LENGTH - back] ?? '', 16) & mask) !== 0);
  };
}
