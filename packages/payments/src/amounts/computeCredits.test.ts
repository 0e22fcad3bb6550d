import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeCreditsOwed, computeMinCredits, computeTopUp } from './computeCredits.ts';

// Shows PAY-2.
test('one stablecoin gives a thousand credits, of which one per cent may slip', () => {
  expect(computeCreditsOwed(1_000_000n, 1000n)).toBe(1000n * 10n ** 18n);
  expect(computeMinCredits(1000n * 10n ** 18n, 100)).toBe(990n * 10n ** 18n);
});

test('the least is rounded up, and what tops up always suffices and never exceeds it by a unit', () => {
  expect(computeMinCredits(101n, 100)).toBe(100n);
  const amount = fc.bigInt({ min: 1n, max: 10n ** 40n });
  const rate = fc.bigInt({ min: 1n, max: 10n ** 9n });
  fc.assert(
    fc.property(amount, amount, rate, (missing, stablecoinAmount, price) => {
      const quoted = computeCreditsOwed(stablecoinAmount, price);
      const paid = computeTopUp(missing, { stablecoinAmount, quoted });
      expect(computeCreditsOwed(paid, price)).toBeGreaterThanOrEqual(missing);
      expect(computeCreditsOwed(paid - 1n, price)).toBeLessThan(missing);
    }),
  );
});
