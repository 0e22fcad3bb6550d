import { forwarderAbi } from '@prism-gateway/contracts';
import fc from 'fast-check';
import { encodeEventTopics, numberToHex } from 'viem/utils';
import { expect, test } from 'vitest';
import { ChainError } from './chainError.ts';
import type { ReadRpc } from './createChainRpc.ts';
import { createFindExecution, createFindFirstUse, findBlockAt } from './findExecution.ts';

/** Block n has the time 100 + 10 × n. */
const rpc: ReadRpc = {
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
  const node: ReadRpc = {
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

const [FORWARDER, SIGNER] = [`0x${'f0'.repeat(20)}`, `0x${'aa'.repeat(20)}`] as const;
const [YEAR, USED_AT, DAY] = [2_628_000n, 1000n, 7200n];

/** A year of blocks of 12 seconds. In one of the first a signer's first nonce was used. Logs are given for 10,000 blocks at a time. */
function openOldChain({ isArchive }: { readonly isArchive: boolean }) {
  const calls = { count: 0 };
  const topics = encodeEventTopics({
    ...{ abi: forwarderAbi, eventName: 'RequestExecuted' },
    args: { digest: numberToHex(1n, { size: 32 }), signer: SIGNER, nonce: 0n },
  });
  const data = `0x${'00'.repeat(64)}`;
  const block = { blockNumber: numberToHex(USED_AT), transactionHash: numberToHex(7n, { size: 32 }) };
  const place = { blockHash: numberToHex(8n, { size: 32 }), transactionIndex: '0x0', logIndex: '0x0', removed: false };
  const log = { address: FORWARDER, topics, data, ...block, ...place };
  function answer(method: string, params: readonly unknown[]): unknown {
    if (method === 'eth_getBlockByNumber') return { timestamp: numberToHex(BigInt(String(params[0])) * 12n) };
    if (method === 'eth_call') {
      const asked = BigInt(String(params[1]));
      if (!isArchive && asked < YEAR - 128n) throw new ChainError('RPC_UNAVAILABLE', 'missing trie node');
      return numberToHex(asked < USED_AT ? 0n : 1n, { size: 32 });
    }
    const [from, to] = [BigInt(Object(params[0]).fromBlock), BigInt(Object(params[0]).toBlock)];
    if (to - from >= 10_000n) throw new ChainError('RPC_UNAVAILABLE', 'too many blocks');
    return from <= USED_AT && to >= USED_AT ? [log] : [];
  }
  const node: ReadRpc = {
    async read([method, ...params], parse) {
      calls.count++;
      return parse(answer(method, params));
    },
  };
  const options = { rpc: node, forwarder: FORWARDER, fromBlock: 0n };
  const [findFirstUse, findExecution] = [createFindFirstUse(options), createFindExecution(options)];
  const head = { number: YEAR, timestamp: YEAR * 12n };
  return {
    calls,
    findFirstUse: (seconds: bigint, deepest = YEAR - 2n) =>
      findFirstUse({ signer: SIGNER, nonce: 0n, seconds, head, deepest }),
    find: (from: bigint) => findExecution({ signer: SIGNER, nonce: 0n, from, head }),
  };
}

// Shows RELAY-4.
test('that a nonce was used a year ago a few calls tell, not a walk through the logs of a year', async () => {
  const { calls, findFirstUse } = openOldChain({ isArchive: true });
  for (const age of [0n, 60n, DAY]) expect(await findFirstUse((YEAR - age) * 12n)).toBe('earlier');
  // A clock may be fast.
  expect(await findFirstUse(YEAR * 12n + 600n)).toBe('earlier');
  expect(calls.count).toBeLessThanOrEqual(16);
});

test('logs are searched from the first block in which the request can have used its nonce', async () => {
  const { findFirstUse, find } = openOldChain({ isArchive: true });
  // Right before, in the very block, and after it.
  expect(await findFirstUse(USED_AT * 12n + 1n)).toBe('earlier');
  expect(await findFirstUse(USED_AT * 12n)).toBe(USED_AT);
  expect(await findFirstUse(USED_AT * 12n - 1n)).toBe(USED_AT);
  expect(await find(USED_AT)).toMatchObject({ blockNumber: USED_AT });
  expect(await find(USED_AT + 1n)).toBeUndefined();
  // What is not deep enough is not believed: the use may be undone.
  expect(await findFirstUse(USED_AT * 12n + 60n, USED_AT - 1n)).toBe(USED_AT);
});

test('a node that has forgotten the state of that time has all logs searched', async () => {
  const { findFirstUse, find } = openOldChain({ isArchive: false });
  expect(await findFirstUse((YEAR - 60n) * 12n)).toBe('earlier');
  expect(await findFirstUse((YEAR - DAY) * 12n)).toBe(0n);
  expect(await find(0n)).toMatchObject({ blockNumber: USED_AT });
});
