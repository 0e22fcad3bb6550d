import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coversGas, feeInWei, highestPrice } from './fee.ts';

const ether = 10n ** 18n;

test('a fee is valued by share and rate', () => {
  const fee = { credits: 3_000_000n * ether, creditsPerEth: 3_000_000n * ether };
  expect(feeInWei({ ...fee, shareBps: 10_000n })).toBe(ether);
  expect(feeInWei({ ...fee, shareBps: 7000n })).toBe((7n * ether) / 10n);
  expect(feeInWei({ credits: 1n, shareBps: 7000n, creditsPerEth: ether })).toBe(0n);
});

// Shows RELAY-2.
test('a fee must exceed the price of its gas by the margin, to the wei', () => {
  const deal = { gas: 100n, gasPrice: 10n, extraWei: 0n, marginPercent: 10 };
  expect(coversGas({ ...deal, feeWei: 1100n })).toBe(true);
  expect(coversGas({ ...deal, feeWei: 1099n })).toBe(false);
  expect(coversGas({ ...deal, feeWei: 1000n, marginPercent: 0 })).toBe(true);
  expect(coversGas({ ...deal, feeWei: 1650n, extraWei: 500n })).toBe(true);
  expect(coversGas({ ...deal, feeWei: 1649n, extraWei: 500n })).toBe(false);
  expect(highestPrice({ ...deal, feeWei: 1650n, extraWei: 500n })).toBe(10n);
  expect(highestPrice({ ...deal, feeWei: 500n, extraWei: 500n })).toBe(0n);
});

test('what is covered at one price is covered at any lower one', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 30n });
  fc.assert(
    fc.property(amount, amount, amount, fc.nat(1000), (feeWei, gas, gasPrice, marginPercent) => {
      fc.pre(gasPrice > 0n && coversGas({ feeWei, gas, gasPrice, extraWei: 0n, marginPercent }));
      expect(coversGas({ feeWei, gas, gasPrice: gasPrice - 1n, extraWei: 0n, marginPercent })).toBe(true);
      expect(gas * gasPrice).toBeLessThanOrEqual(feeWei);
    }),
  );
});
