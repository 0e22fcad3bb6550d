import { expect, it } from 'vitest';
import type { ChainReader } from './chainReader.ts';
import { watchChain } from './watchChain.ts';

/** A chain whose newest block has this time. */
function createChain(timestamp: bigint): ChainReader {
  const head = { number: 1n, timestamp, gasPrice: 1n, gasReserve: 2n };
  // Nothing else is asked here.
  return { head: async () => head } as unknown as ChainReader;
}

it('expects the next block at the time of day, but no earlier than the newest one, and not a second later either', async () => {
  expect(await watchChain(createChain(100n), () => 103_900).seconds()).toBe(103n);
  expect(await watchChain(createChain(103n), () => 103_900).seconds()).toBe(103n);
  expect(await watchChain(createChain(105n), () => 103_900).seconds()).toBe(105n);
});
