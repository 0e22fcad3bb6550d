import { expect, test } from 'vitest';
import { formatAmount } from './formatAmount.ts';

test.each([
  [0n, 6, '0.00'],
  [1_400_000_000n, 6, '1,400.00'],
  [1_234_567_890_123n, 6, '1,234,567.890123'],
  [-1_500_000n, 6, '-1.50'],
  [999_999_999n, 6, '999.999999'],
  [10n ** 24n, 18, '1,000,000.00'],
])('%s with %s decimals reads %s', (units, decimals, text) => {
  expect(formatAmount(units, decimals)).toBe(text);
});
