import { expect, test } from 'vitest';
import { createClaimRate, pickAtRandom } from './claimRate.ts';

test('bursts without rivals grow to their bound', () => {
  const claimRate = createClaimRate();
  expect(claimRate.share).toBe(0.3);
  const bursts = Array.from({ length: 8 }, () => {
    const { burst } = claimRate;
    claimRate.learn({ won: burst, conflicts: 0 });
    return burst;
  });
  expect(bursts).toEqual([2, 3, 4, 6, 10, 15, 22, 34]);
  expect(claimRate.share).toBeCloseTo(0.3 * 1.1 ** 8);
});

test('conflicts slow down, but never to a standstill; wins speed up again', () => {
  const claimRate = createClaimRate();
  for (let round = 0; round < 50; round += 1) claimRate.learn({ won: 0, conflicts: 3 });
  expect(claimRate.burst).toBe(1);
  expect(claimRate.share).toBeCloseTo(0.02);
  for (let round = 0; round < 50; round += 1) claimRate.learn({ won: 1, conflicts: 0 });
  expect(claimRate).toMatchObject({ burst: 64, share: 1 });
});

test('a round without claims teaches nothing', () => {
  const claimRate = createClaimRate();
  claimRate.learn({ won: 0, conflicts: 1 });
  const { share } = claimRate;
  claimRate.learn({ won: 0, conflicts: 0 });
  expect(claimRate.share).toBe(share);
});

test('picks are different ones, of the list, as many as asked', () => {
  const list = Array.from({ length: 100 }, (_, index) => index);
  const picked = pickAtRandom({ list, count: 30, random: Math.random });
  expect(new Set(picked).size).toBe(30);
  expect(list).toEqual(expect.arrayContaining([...picked]));
  expect(pickAtRandom({ list: [1], count: 5, random: Math.random })).toEqual([1]);
});

test('a fraction is one more with that chance', () => {
  const pick = (random: number) => pickAtRandom({ list: [1, 2, 3], count: 1.25, random: () => random }).length;
  expect([pick(0), pick(0.24), pick(0.25), pick(0.99)]).toEqual([2, 2, 1, 1]);
});

test('where chance picks nothing, it becomes likelier to pick something', () => {
  const claimRate = createClaimRate();
  for (let round = 0; round < 13; round += 1) claimRate.recordWaiting();
  expect(claimRate.share).toBe(1);
});
