import { expect, it } from 'vitest';
import { createHealth } from './createHealth.ts';

const PARTS = ['chain', 'gateway', 'evaluation'] as const;

it('is red until chain and gateway have answered', () => {
  const health = createHealth({ parts: PARTS, silentMs: 60_000, now: () => 0, monotonicNow: () => 0 });
  health.recordWell('chain');
  expect(health.faults()).toEqual([
    'cannot reach the gateway since 1970-01-01T00:00:00.000Z: there has been no answer yet',
  ]);
  health.recordWell('gateway');
  expect(health.faults()).toEqual([]);
});

it('names what fails, why, and since when, until it works again', () => {
  let nowMs = 0;
  const health = createHealth({ parts: PARTS, silentMs: 60_000, now: () => nowMs, monotonicNow: () => nowMs });
  for (const part of ['chain', 'gateway'] as const) health.recordWell(part);
  for (nowMs of [1000, 2000]) health.recordFailure('evaluation', 'The node did not answer eth_simulateV1.');
  expect(health.faults()).toEqual([
    'cannot evaluate requests since 1970-01-01T00:00:01.000Z: The node did not answer eth_simulateV1.',
  ]);
  health.recordWell('evaluation');
  expect(health.faults()).toEqual([]);
});

it('is red where nothing has been heard for a minute', () => {
  let nowMs = 0;
  const health = createHealth({ parts: PARTS, silentMs: 60_000, now: () => nowMs, monotonicNow: () => nowMs });
  for (const part of ['chain', 'gateway', 'evaluation'] as const) health.recordWell(part);
  nowMs = 60_000;
  expect(health.faults()).toEqual([]);
  nowMs = 60_001;
  expect(health.faults().map((fault) => fault.split(' since')[0])).toEqual([
    'cannot see the chain',
    'cannot reach the gateway',
  ]);
});
