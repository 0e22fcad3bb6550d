import { expect, it, test } from 'vitest';
import { HEAD } from '../../test/makeHead.ts';
import { ChainError } from './chainError.ts';
import { createBlockPace, type WatchedChain, watchChain } from './watchChain.ts';

/** A chain whose newest block has this time; its node says what its pending block has, if anything. */
function createChain(timestamp: bigint, pending?: bigint): WatchedChain {
  const head = { ...HEAD, number: timestamp, timestamp, gasPrice: 1n, gasReserve: 2n };
  const pendingSeconds = async () => {
    if (pending === undefined) throw new ChainError('RPC_UNAVAILABLE', 'no pending block');
    return pending;
  };
  const policy = async () => ({ isOfficial: true, priorityWindow: 0n, maxAge: 1n, shareBps: 1n });
  return { block: async () => head, tip: async () => 0n, pendingSeconds, policy, balance: async () => 0n };
}

const CLOCK = { now: () => 103_900, monotonicNow: () => 103_900 };

it('expects the next block at the time of day, but no earlier than the newest one, and not a second later either', async () => {
  expect(await watchChain(createChain(101n), CLOCK).seconds()).toBe(103n);
  expect(await watchChain(createChain(103n), CLOCK).seconds()).toBe(103n);
  expect(await watchChain(createChain(105n), CLOCK).seconds()).toBe(105n);
});

it('believes a clock that is ahead of the newest block as far as the node’s pending block does', async () => {
  expect(await watchChain(createChain(60n, 103n), CLOCK).seconds()).toBe(103n);
  expect(await watchChain(createChain(60n, 62n), CLOCK).seconds()).toBe(62n);
  expect(await watchChain(createChain(60n, 999n), CLOCK).seconds()).toBe(103n);
});

it('goes on from the newest block where the node does not tell, and believes the clock again once no block has come for long', async () => {
  let nowMs = 103_900;
  let chain = createChain(60n);
  // Asked anew each time, as the newest block changes.
  const state = watchChain(
    { ...chain, block: () => chain.block(), pendingSeconds: () => chain.pendingSeconds() },
    { now: () => nowMs, monotonicNow: () => nowMs },
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

test.each([0, 600_000, -600_000])(
  'while work asks all the time, a block costs few calls, also if the clock is set by %i ms meanwhile',
  async (setByMs) => {
    let nowMs = 1_200_300;
    let [asked, wrongMs] = [0, 0];
    // A block is on the node 300 ms after its time.
    const block = async () => {
      asked += 1;
      const number = BigInt(Math.floor((nowMs - 300) / 12_000));
      return { ...HEAD, number, timestamp: 12n * number };
    };
    const state = watchChain({ ...createChain(0n), block }, { now: () => nowMs + wrongMs, monotonicNow: () => nowMs });
    let oldestMs = 0;
    for (const endMs = nowMs + 60_000; nowMs < endMs; nowMs += 100) await state.block();
    asked = 0;
    wrongMs = setByMs;
    for (const endMs = nowMs + 600_000; nowMs < endMs; nowMs += 100) {
      const { timestamp } = await state.block();
      oldestMs = Math.max(oldestMs, nowMs - Number(timestamp) * 1000);
    }
    expect(asked).toBeLessThanOrEqual(2 * 50);
    // It is never missed for long.
    expect(oldestMs).toBeLessThan(12_300 + 2000);
  },
);

test('a block that a node has made up once, far ahead in number and time, costs no calls for ever', async () => {
  let nowMs = 1_200_300;
  let [asked, isLie] = [0, false];
  const block = async () => {
    asked += 1;
    const number = BigInt(Math.floor((nowMs - 300) / 12_000));
    return isLie ? { ...HEAD, number: 10n ** 9n, timestamp: 10n ** 6n } : { ...HEAD, number, timestamp: 12n * number };
  };
  const state = watchChain({ ...createChain(0n), block }, { now: () => nowMs, monotonicNow: () => nowMs });
  for (const endMs = nowMs + 60_000; nowMs < endMs; nowMs += 100) await state.block();
  isLie = true;
  await state.block(0);
  isLie = false;
  for (const endMs = nowMs + 60_000; nowMs < endMs; nowMs += 100) await state.block();
  asked = 0;
  for (const endMs = nowMs + 600_000; nowMs < endMs; nowMs += 100) await state.block();
  expect(asked).toBeLessThanOrEqual(2 * 50);
});

test('a chain is slow until it is seen to be fast, and no slower than that', () => {
  const pace = createBlockPace();
  expect(pace.secondsOf(3n)).toBe(45n);
  pace.note({ number: 10n, timestamp: 1000n });
  expect(pace.secondsOf(3n)).toBe(45n);
  pace.note({ number: 14n, timestamp: 1008n });
  expect(pace.secondsOf(3n)).toBe(6n);
  // An older block, from a node that has fallen behind, says nothing.
  pace.note({ number: 9n, timestamp: 0n });
  expect(pace.secondsOf(3n)).toBe(6n);
  pace.note({ number: 15n, timestamp: 9000n });
  expect(pace.secondsOf(3n)).toBe(45n);
});

test('less than a second a block is rounded up once, for all of them', () => {
  const pace = createBlockPace();
  pace.note({ number: 0n, timestamp: 0n });
  pace.note({ number: 40n, timestamp: 10n });
  expect([pace.secondsOf(1n), pace.secondsOf(8n), pace.secondsOf(9n)]).toEqual([1n, 2n, 3n]);
});

test('what was long ago is forgotten', () => {
  const pace = createBlockPace();
  for (let block = 0n; block <= 100n; block += 1n) pace.note({ number: block, timestamp: 12n * block });
  expect(pace.secondsOf(1n)).toBe(12n);
  for (let block = 1n; block <= 200n; block += 1n) pace.note({ number: 100n + block, timestamp: 1200n + block });
  expect(pace.secondsOf(1n)).toBeLessThanOrEqual(2n);
});
