import { expect, test } from 'vitest';
import { summariseRow } from './summariseRow.ts';

const row = { title: 'x', unit: 'requests/s', values: [80, 100, 30] };

test('takes the median of the rounds, and of the rounds’ ratios', () => {
  const baseline = { title: 'bare', values: [100, 200, 30] };
  const target = { of: 'ratio', is: 'at least', bound: 0.8 } as const;
  expect(summariseRow({ ...row, baseline, target })).toMatchObject({
    median: 80,
    min: 30,
    max: 100,
    baselineMedian: 100,
    ratio: 0.8,
    met: true,
  });
});

test.for([
  ['at least', 81, false],
  ['at most', 80, true],
  ['at most', 79, false],
] as const)('holds the figure itself against a bound: %s %d', ([is, bound, met]) => {
  expect(summariseRow({ ...row, target: { of: 'value', is, bound } }).met).toBe(met);
});

test('has no verdict without a target, and none met without a baseline', () => {
  expect(summariseRow(row).met).toBeUndefined();
  expect(summariseRow({ ...row, target: { of: 'ratio', is: 'at most', bound: 9 } }).met).toBe(false);
});
