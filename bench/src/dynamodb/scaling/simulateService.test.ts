import { createSeededRandom } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { type ServiceLoad, simulateService } from './simulateService.ts';

const AMPLE = { throttleRate: 1e6, throttleBurst: 1e6, instances: 1000, writeUnits: 1e6, shards: 24 };
const simulate = (load: Partial<ServiceLoad>) =>
  simulateService({ ...AMPLE, rate: 50, seconds: 16, random: createSeededRandom(1), ...load });

test('where there is room for all, all is finished at once', () => {
  const result = simulate({});
  expect(result.finished).toBeGreaterThan(48);
  expect(result).toMatchObject({ lostShare: 0, throttledShare: 0, crowdedShare: 0, unavailableShare: 0 });
  expect(result.p99Seconds).toBeLessThan(0.1);
});

test("API Gateway's throttle lets a fifth of its calls be finished lives", () => {
  const { finished, throttledShare, crowdedShare, unavailableShare } = simulate({
    throttleRate: 125,
    throttleBurst: 125,
  });
  expect(finished).toBeLessThan(28);
  expect(throttledShare).toBeGreaterThan(0.3);
  expect([crowdedShare, unavailableShare]).toEqual([0, 0]);
});

test('too few instances are told from that', () => {
  const { crowdedShare, throttledShare, peakInstances } = simulate({ instances: 3 });
  expect(crowdedShare).toBeGreaterThan(0.3);
  expect([throttledShare, peakInstances]).toEqual([0, 3]);
});

test('a table at its ceiling keeps instances busy, and clients away', () => {
  const { unavailableShare, peakInstances } = simulate({ writeUnits: 75 });
  expect(unavailableShare).toBeGreaterThan(0);
  expect(peakInstances).toBeGreaterThan(3 * simulate({}).peakInstances);
});
