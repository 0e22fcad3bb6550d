import { expect, test } from 'vitest';
import { addSample, estimateReach, type Sample } from './estimateReach.ts';

const DAY = 86_400_000;
const sample = (atMs: number, balanceWei: bigint, nonce: number): Sample => ({ atMs, balanceWei, nonce });

test('the last balance, at the cost of the transactions in between', () => {
  expect(estimateReach([sample(0, 1000n, 5), sample(DAY / 2, 900n, 9), sample(DAY, 800n, 13)])).toEqual({
    transactions: 32,
    days: 4,
  });
});

test('what was put in or taken out is no price, and standing still says nothing', () => {
  const spending = [
    sample(0, 1000n, 0),
    sample(1, 900n, 1),
    sample(2, 9800n, 2),
    sample(3, 9700n, 3),
    sample(4, 600n, 4),
    sample(5, 500n, 5),
  ];
  expect(estimateReach(spending)?.transactions).toBe(5);
  expect(estimateReach([sample(0, 100n, 3), sample(1, 100n, 3)])).toBeUndefined();
  expect(estimateReach([])).toBeUndefined();
});

test('what is older than a day is forgotten', () => {
  const samples = addSample([sample(0, 5n, 0), sample(10, 4n, 1)], sample(DAY + 5, 3n, 2));
  expect(samples.map(({ atMs }) => atMs)).toEqual([10, DAY + 5]);
});
