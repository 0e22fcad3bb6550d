import fc from 'fast-check';
import { expect, test } from 'vitest';
import { slidingUse } from '../../ports/rateLimitStore.ts';
import { mostHits } from './rateLimitStore.ts';

const window = 30_000_000;

test.each([
  [0, 0, 5, 5],
  [5, 0, 5, 0],
  [5, 0.5, 5, 2],
  [9, 0, 5, -4],
  // Where the difference alone would be one too low.
  [243, 0.3333333333333333, 364, 202],
  [360, 0.39166666666666666, 286, 67],
  [600, 0.6183333333333333, 327, 98],
  [200, 0.815, 146, 109],
])('after %i hits, %f of the window later, with a limit of %i: %i', (previous, elapsed, limit, most) => {
  expect(mostHits(previous, { window, elapsed, limit })).toBe(most);
});

test('it is the last number of hits that the formula allows', () => {
  const elapsed = fc.oneof(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.nat({ max: 59_999 }).map((ms) => ms / 60_000),
  );
  fc.assert(
    fc.property(fc.nat({ max: 5000 }), elapsed, fc.integer({ min: 1, max: 5000 }), (previous, passed, limit) => {
      const most = mostHits(previous, { window, elapsed: passed, limit });
      const fits = (current: number) => slidingUse({ current, previous }, { window, elapsed: passed }) <= limit;
      expect([fits(most), fits(most + 1)]).toEqual([true, false]);
    }),
    { numRuns: 5000 },
  );
});
