import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTime } from './render.ts';

test('writes what Date writes, whatever came before', () => {
  const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: lastMs }), { minLength: 1 }), (times) => {
      for (const ms of times) expect(formatTime(ms)).toBe(new Date(ms).toISOString());
    }),
  );
});

test.each([0, 999, 86_399_999, 86_400_000, Date.UTC(2024, 1, 29, 23, 59, 59, 999)])('the edge %i', (ms) => {
  expect(formatTime(ms)).toBe(new Date(ms).toISOString());
});
