import { randomBytes } from 'node:crypto';
import { keccak256 as viemKeccak256 } from 'viem';
import { expect, test } from 'vitest';
import { loadKeccak256 } from './loadKeccak256.ts';

test('it is that of another implementation, also of nothing and of much', async () => {
  const keccak256 = await loadKeccak256();
  for (const length of [0, 1, 135, 136, 137, 272, 262_144]) {
    const bytes = randomBytes(length);
    expect(`0x${Buffer.from(keccak256(bytes)).toString('hex')}`).toBe(viemKeccak256(bytes));
  }
});

test('two hashes do not share a buffer', async () => {
  const keccak256 = await loadKeccak256();
  const first = keccak256(new Uint8Array([1]));
  const before = Buffer.from(first).toString('hex');
  keccak256(new Uint8Array([2]));
  expect(Buffer.from(first).toString('hex')).toBe(before);
});
