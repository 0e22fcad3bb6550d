import { expect, it } from 'vitest';
import { HEAD } from '../../test/makeHead.ts';
import { ChainError } from './chainError.ts';
import { type WatchedChain, watchChain } from './watchChain.ts';

/** A chain whose newest block has this time; its node says what its pending block has, if anything. */
function createChain(timestamp: bigint, pending?: bigint): WatchedChain {
  const head = { ...HEAD, number: timestamp, timestamp, gasPrice: 1n, gasReserve: 2n };
  const pendingSeconds = async () => {
    if (pending === undefined) throw new ChainError('RPC_UNAVAILABLE', 'no pending block');
    return pending;
  };
  const policy = async () => ({ isOfficial: true, priorityWindow: 0n, maxAge: 1n, shareBps: 1n });
  return { head: async () => head, pendingSeconds, policy, balance: async () => 0n };
}

it('expects the next block at the time of day, but no earlier than the newest one, and not a second later either', async () => {
  expect(await watchChain(createChain(101n), { now: () => 103_900 }).seconds()).toBe(103n);
  expect(await watchChain(createChain(103n), { now: () => 103_900 }).seconds()).toBe(103n);
  expect(await watchChain(createChain(105n), { now: () => 103_900 }).seconds()).toBe(105n);
});

it('believes a clock that is ahead of the newest block as far as the node’s pending block does', async () => {
  expect(await watchChain(createChain(60n, 103n), { now: () => 103_900 }).seconds()).toBe(103n);
  expect(await watchChain(createChain(60n, 62n), { now: () => 103_900 }).seconds()).toBe(62n);
  expect(await watchChain(createChain(60n, 999n), { now: () => 103_900 }).seconds()).toBe(103n);
});

it('goes on from the newest block where the node does not tell, and believes the clock again once no block has come for long', async () => {
  let nowMs = 103_900;
  let chain = createChain(60n);
  // Asked anew each time, as the newest block changes.
  const state = watchChain(
    { ...chain, head: () => chain.head(), pendingSeconds: () => chain.pendingSeconds() },
    { now: () => nowMs },
  );
  expect(await state.seconds()).toBe(60n);
  nowMs += 12_000;
  expect(await state.seconds()).toBe(72n);
  chain = createChain(73n);
  nowMs += 1000;
  expect(await state.seconds()).toBe(73n);
  nowMs += 31_000;
  expect(await state.seconds()).toBe(147n);
});
