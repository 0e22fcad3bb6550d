import { bytesToHex, keccak256 } from 'viem';
import { expect, test } from 'vitest';
import { createLogFinder } from './createLogFinder.ts';

const BYTES = 256;
const ITEMS = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(32)}`] as const;

/** The bits of an item as the Yellow Paper counts them: 11 each of three pairs of bytes of its hash, the last byte's lowest is 0. */
const bitsOf = (item: `0x${string}`) => {
  const hash = new DataView(keccak256(item, 'bytes').buffer);
  return [0, 2, 4].map((at) => hash.getUint16(at) & 0x7ff);
};

function filterWith(bits: readonly number[]) {
  const filter = new Uint8Array(BYTES);
  for (const bit of bits) {
    const at = BYTES - 1 - Math.floor(bit / 8);
    filter[at] = (filter[at] ?? 0) | (1 << (bit % 8));
  }
  return bytesToHex(filter);
}

test('a block whose filter has every bit may hold the log; one that lacks any does not', () => {
  const mayHold = createLogFinder(ITEMS);
  const bits = [...new Set(ITEMS.flatMap(bitsOf))];
  expect(mayHold(filterWith(bits))).toBe(true);
  expect(mayHold(`0x${'ff'.repeat(BYTES)}`)).toBe(true);
  for (const lacking of bits) expect(mayHold(filterWith(bits.filter((bit) => bit !== lacking)))).toBe(false);
});

test('what is no filter rules nothing out', () => {
  expect(createLogFinder(ITEMS)('0x')).toBe(true);
});
