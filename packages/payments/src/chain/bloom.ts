import { type Hex, hexToBytes, keccak256 } from 'viem';

/** Bytes of a block's filter of logs. */
const BLOOM_BYTES = 256;
/** Bits that an item sets. */
const BITS_EACH = 3;

/**
 * Tells whether a block may hold a log of something; a filter errs on the side of "may".
 *
 * @param logsBloom - of the block's header, 256 bytes
 * @param items - addresses and topics, all of which the log would have
 * @returns false: the block has no such log, for certain
 * @see Ethereum Yellow Paper, section 4.3.1
 */
export function mayHoldLog(logsBloom: Hex, items: readonly Hex[]): boolean {
  const bloom = hexToBytes(logsBloom);
  if (bloom.length !== BLOOM_BYTES) return true;
  return items.every((item) => {
    const hash = keccak256(item, 'bytes');
    return Array.from({ length: BITS_EACH }, (_, index) => index * 2).every((at) => {
      const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 0x7ff;
      return ((bloom[BLOOM_BYTES - 1 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0;
    });
  });
}
