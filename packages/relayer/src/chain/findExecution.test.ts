import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChainRpc } from './createChainRpc.ts';
import { findBlockAt } from './findExecution.ts';

/** Block n has the time 100 + 10 × n. */
const rpc: Pick<ChainRpc, 'read'> = {
  read: async ([, tag], parse) => parse({ timestamp: `0x${(100 + 10 * Number(tag)).toString(16)}` }),
};

test.each([
  [99n, -1n],
  [100n, 0n],
  [119n, 1n],
  [120n, 2n],
  [1089n, 98n],
  [1090n, 99n],
  [5000n, 99n],
])('the newest block at %d seconds is %d', async (seconds, block) => {
  const head = { number: 99n, timestamp: 1090n };
  expect(await findBlockAt({ rpc, seconds, fromBlock: 0n, head })).toBe(block);
});

/** A node of a chain whose blocks have these times; it counts what it is asked. */
function chainOf(times: readonly number[]) {
  const calls = { count: 0 };
  const node: Pick<ChainRpc, 'read'> = {
    async read([, tag], parse) {
      calls.count++;
      return parse({ timestamp: `0x${(times[Number(tag)] ?? 0).toString(16)}` });
    },
  };
  const head = { number: BigInt(times.length - 1), timestamp: BigInt(times.at(-1) ?? 0) };
  return {
    calls,
    find: (seconds: number) => findBlockAt({ rpc: node, seconds: BigInt(seconds), fromBlock: 0n, head }),
  };
}

test('however unevenly blocks come, it is the one that counting would find', async () => {
  const gaps = fc.array(fc.oneof(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 100_000 })), {
    minLength: 1,
  });
  await fc.assert(
    fc.asyncProperty(gaps, fc.double({ min: -0.1, max: 1.1, noNaN: true }), async (lengths, share) => {
      let time = 1000;
      const times = lengths.map((gap) => (time += gap));
      const seconds = Math.round(1000 + share * (time - 1000));
      expect(await chainOf(times).find(seconds)).toBe(BigInt(times.findLastIndex((each) => each <= seconds)));
    }),
  );
});

test.each([12, 2])('of a year of blocks of %d seconds with missed slots a few are read', async (slotSeconds) => {
  const times: number[] = [];
  for (let slot = 0; slot < 2_000_000; slot++) if (slot % 97 !== 0) times.push(slot * slotSeconds);
  const { calls, find } = chainOf(times);
  const last = times.at(-1) ?? 0;
  for (const age of [30, 900, 86_400]) await find(last - age);
  expect(calls.count).toBeLessThanOrEqual(18);
});
