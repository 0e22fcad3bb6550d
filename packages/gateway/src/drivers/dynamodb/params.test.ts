import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createParamsCache, packParams, unpackParams } from './params.ts';

test('any JSON comes back, small or large', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), fc.nat({ max: 30_000 }), async (json, length) => {
      const text = JSON.stringify({ json, filler: '0f'.repeat(length) });
      expect(await unpackParams(await packParams(text))).toBe(text);
    }),
  );
});

test('what was stored before is still read: the dictionary is part of the format', async () => {
  const stored = Buffer.from('ab4671ad8121aa7b0d8cd05c9c9884ee2a5398e1b500', 'hex');
  const params = { cloudId: '0x01', dataId: '0x02', payload: '0xab', relayerFee: '5', v: 27 };
  expect(await unpackParams(stored)).toBe(JSON.stringify(params));
});

test.each([
  [1000, 500],
  [200_000, 104_000],
])('%i characters of random hex digits take at most %i bytes', async (characters, most) => {
  const hex = (count: number) => `0x${randomBytes(count).toString('hex')}`;
  const params = {
    cloudId: hex(32),
    dataId: hex(32),
    payload: '',
    relayerFee: '1000000000000000000',
    timestamp: '1800000000',
    signer: hex(20),
    v: 27,
    r: hex(32),
    s: hex(32),
  };
  const left = characters - JSON.stringify(params).length;
  const packed = await packParams(JSON.stringify({ ...params, payload: hex(left / 2 - 1) }));
  expect(packed.length).toBeLessThanOrEqual(most);
});

const bytes = (length: number) => new Uint8Array(length);

test('what was kept longest makes room for what is new', () => {
  const cache = createParamsCache(100);
  cache.keep('a', bytes(40));
  cache.keep('b', bytes(40));
  cache.keep('a', bytes(50));
  cache.keep('c', bytes(30));
  expect([cache.get('a')?.length, cache.get('b'), cache.get('c')?.length]).toEqual([50, undefined, 30]);
  cache.keep('d', bytes(20));
  expect([cache.get('a')?.length, cache.get('d')?.length]).toEqual([50, 20]);
});

test('what is larger than all room is not kept', () => {
  const cache = createParamsCache(100);
  cache.keep('a', bytes(10));
  cache.keep('b', bytes(101));
  expect([cache.get('a'), cache.get('b')]).toEqual([undefined, undefined]);
  cache.keep('c', bytes(100));
  expect(cache.get('c')?.length).toBe(100);
});
