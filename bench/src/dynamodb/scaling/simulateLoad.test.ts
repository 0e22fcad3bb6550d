import { createSeededRandom } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { simulateLoad } from './simulateLoad.ts';

const simulate = (rate: number, shards: number) => simulateLoad({ rate, shards, random: createSeededRandom(1) });

test('what two writes on pending for each request leave room for is accepted, and no more', () => {
  const { accepted, refusedShare, lagSeconds } = simulate(4000, 4);
  expect(accepted).toBeGreaterThan(1900);
  expect(accepted).toBeLessThan(2100);
  expect(refusedShare).toBeCloseTo(0.5, 1);
  expect(lagSeconds).toBeGreaterThan(4);
});

test('with shards enough nothing is refused, and lists are hardly late', () => {
  const result = simulate(4000, 12);
  expect(result.accepted).toBeGreaterThan(3990);
  expect(result).toMatchObject({ refusedShare: 0, throttledShare: 0 });
  expect(result.lagSeconds).toBeLessThan(0.1);
});

test('keys that share partitions get less', () => {
  const random = createSeededRandom(1);
  const shared = simulateLoad({ rate: 4000, shards: 12, sharedPartitions: 10, random });
  expect(shared.accepted).toBeLessThan(3500);
});
