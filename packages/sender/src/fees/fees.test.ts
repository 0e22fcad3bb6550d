import fc from 'fast-check';
import { expect, test } from 'vitest';
import { offerFees, raiseFees } from './fees.ts';

const wei = fc.bigInt({ min: 0n, max: 10n ** 13n });
const markets = fc.record({ baseFeePerGas: wei, tip: wei });
const ceilings = fc.option(wei, { nil: undefined });

test('an offer is enough for the next block, and never above the ceiling', () => {
  fc.assert(
    fc.property(markets, ceilings, (market, ceiling) => {
      const needed = market.baseFeePerGas + market.tip;
      const fees = offerFees(market, ceiling);
      if (ceiling !== undefined && needed > ceiling) {
        expect(fees).toBeUndefined();
        return;
      }
      expect(fees?.maxFeePerGas).toBeGreaterThanOrEqual(needed);
      expect(fees?.maxPriorityFeePerGas).toBe(market.tip);
      if (ceiling !== undefined) expect(fees?.maxFeePerGas).toBeLessThanOrEqual(ceiling);
    }),
  );
});

test('a raised offer is one that nodes take for a replacement, or there is none', () => {
  const percents = fc.integer({ min: 10, max: 200 });
  fc.assert(
    fc.property(markets, markets, ceilings, percents, (first, market, ceiling, percent) => {
      const before = offerFees(first, undefined) ?? { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
      const fees = raiseFees(before, { market, percent, ceiling });
      if (fees === undefined) {
        expect(ceiling).toBeDefined();
        return;
      }
      expect(fees.maxFeePerGas * 100n).toBeGreaterThanOrEqual(before.maxFeePerGas * BigInt(100 + percent));
      expect(fees.maxFeePerGas).toBeGreaterThanOrEqual(fees.maxPriorityFeePerGas);
      if (ceiling !== undefined) expect(fees.maxFeePerGas).toBeLessThanOrEqual(ceiling);
      if (fees.maxPriorityFeePerGas < fees.maxFeePerGas) {
        const least = before.maxPriorityFeePerGas * BigInt(100 + percent);
        expect(fees.maxPriorityFeePerGas * 100n).toBeGreaterThanOrEqual(least);
      }
    }),
  );
});

test('amounts are those of EIP-1559', () => {
  expect(offerFees({ baseFeePerGas: 10n, tip: 2n }, undefined)).toEqual({
    maxFeePerGas: 22n,
    maxPriorityFeePerGas: 2n,
  });
  expect(offerFees({ baseFeePerGas: 10n, tip: 2n }, 15n)).toEqual({ maxFeePerGas: 15n, maxPriorityFeePerGas: 2n });
  expect(offerFees({ baseFeePerGas: 10n, tip: 2n }, 11n)).toBeUndefined();
  const before = { maxFeePerGas: 22n, maxPriorityFeePerGas: 2n };
  const terms = { market: { baseFeePerGas: 10n, tip: 2n }, percent: 15, ceiling: undefined };
  expect(raiseFees(before, terms)).toEqual({ maxFeePerGas: 26n, maxPriorityFeePerGas: 3n });
  expect(raiseFees(before, { ...terms, ceiling: 25n })).toBeUndefined();
});
