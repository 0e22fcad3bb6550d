import { expect, test } from 'vitest';
import { chooseBackOff, createBackOff } from './backOff.ts';

const policy = { firstMs: 100, maxMs: 1000 };

test.each([
  [1, 0, undefined, 50],
  [1, 1, undefined, 100],
  [3, 0.5, undefined, 300],
  [4, 1, undefined, 800],
  [5, 1, undefined, 1000],
  [5000, 1, undefined, 1000],
  [1, 0, 2000, 2050],
])('after %d failures with random %d and %o asked for it is %d ms', (failures, random, askedMs, ms) => {
  expect(chooseBackOff(policy, { failures, random, askedMs })).toBe(ms);
});

test('a row grows, begins again, and tells how each wait ended', async () => {
  const waits: number[] = [];
  const { signal } = new AbortController();
  const wait = async (ms: number, given: AbortSignal) => {
    expect(given).toBe(signal);
    waits.push(ms);
    return waits.length < 4;
  };
  const backOff = createBackOff({ ...policy, random: () => 1, signal, wait });
  expect([await backOff.wait(), await backOff.wait(5000)]).toEqual([true, true]);
  backOff.reset();
  expect([await backOff.wait(), await backOff.wait()]).toEqual([true, false]);
  expect(waits).toEqual([100, 5200, 100, 200]);
});

test('the signal ends a wait of the real clock at once, before and during it', async () => {
  const stopping = new AbortController();
  const backOff = createBackOff({ firstMs: 1e6, maxMs: 1e9, random: Math.random, signal: stopping.signal });
  const waiting = backOff.wait();
  stopping.abort();
  expect([await waiting, await backOff.wait()]).toEqual([false, false]);
});

test('a short wait passes', async () => {
  const { signal } = new AbortController();
  expect(await createBackOff({ firstMs: 1, maxMs: 1, random: () => 0, signal }).wait()).toBe(true);
});
