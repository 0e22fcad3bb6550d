import { expect, test } from 'vitest';
import { createBlockPace } from './watchChain.ts';

test('a chain is slow until it is seen to be fast, and no slower than that', () => {
  const pace = createBlockPace();
  expect(pace.secondsOf(3n)).toBe(45n);
  pace.note({ number: 10n, timestamp: 1000n });
  expect(pace.secondsOf(3n)).toBe(45n);
  pace.note({ number: 14n, timestamp: 1008n });
  expect(pace.secondsOf(3n)).toBe(6n);
  // An older block, from a node that has fallen behind, says nothing.
  pace.note({ number: 9n, timestamp: 0n });
  expect(pace.secondsOf(3n)).toBe(6n);
  pace.note({ number: 15n, timestamp: 9000n });
  expect(pace.secondsOf(3n)).toBe(45n);
});

test('less than a second a block is rounded up once, for all of them', () => {
  const pace = createBlockPace();
  pace.note({ number: 0n, timestamp: 0n });
  pace.note({ number: 40n, timestamp: 10n });
  expect([pace.secondsOf(1n), pace.secondsOf(8n), pace.secondsOf(9n)]).toEqual([1n, 2n, 3n]);
});

test('what was long ago is forgotten', () => {
  const pace = createBlockPace();
  for (let block = 0n; block <= 100n; block += 1n) pace.note({ number: block, timestamp: 12n * block });
  expect(pace.secondsOf(1n)).toBe(12n);
  for (let block = 1n; block <= 200n; block += 1n) pace.note({ number: 100n + block, timestamp: 1200n + block });
  expect(pace.secondsOf(1n)).toBeLessThanOrEqual(2n);
});
