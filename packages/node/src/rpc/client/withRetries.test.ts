import { type RpcNode, type RpcNodeBehaviour, startRpcNode } from '@prism-gateway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRpcClient } from './createRpcClient.ts';
import { withRetries } from './withRetries.ts';

let node: RpcNode;
let nowMs: number;
let waits: (number | undefined)[];
beforeEach(async () => {
  node = await startRpcNode();
  nowMs = 0;
  waits = [];
});
afterEach(() => node.stop());

/** Waits by moving the clock. */
const connect = (isPatient = true) =>
  withRetries(createRpcClient({ rpcUrl: node.url, monotonicNow: () => nowMs }), {
    attempts: 4,
    createBackOff: () => ({
      async wait(askedMs) {
        waits.push(askedMs);
        nowMs += askedMs ?? 0;
        return isPatient;
      },
    }),
  });

const passing: readonly [string, RpcNodeBehaviour][] = [
  ['a cut line', { fail: () => 'hang-up' }],
  ['no JSON', { fail: () => 'garbage' }],
  ['a server that fails', { fail: () => ({ status: 502 }) }],
  ['an error of the node', { answer: () => ({ error: { code: -32_603, message: 'internal error' } }) }],
  ['words of the node', { answer: () => ({ error: { code: -32_000, message: 'header not found' } }) }],
  ['an answer to another call', { twist: ([answer]) => ({ ...answer, id: 987_654 }) }],
];

test.each(passing)('%s is asked again, four times in all', async (_, behaviour) => {
  node.behave(behaviour);
  await expect(connect().request('a', [])).rejects.toThrow();
  expect([node.exchanges.length, waits.length]).toEqual([4, 3]);
});

test('what goes well in the end is well', async () => {
  node.behave({ fail: (n) => (n < 4 ? { status: 500 } : undefined) });
  expect(await connect().request('a', [])).toBe('a');
});

test('the node is asked again no earlier than it says', async () => {
  node.behave({ fail: (n) => (n === 1 ? { status: 429, headers: { 'retry-after': '2' } } : undefined) });
  expect(await connect().request('a', [])).toBe('a');
  expect([waits, node.exchanges.length]).toEqual([[2000], 2]);
});

const final: readonly [string, RpcNodeBehaviour][] = [
  ['a revert', { answer: () => ({ error: { code: 3, message: 'execution reverted', data: '0x' } }) }],
  ['a revert in words', { answer: () => ({ error: { code: -32_000, message: 'VM Exception: reverted' } }) }],
  ['an unknown method', { answer: () => ({ error: { code: -32_601, message: 'no such method' } }) }],
  ['a bad request', { answer: () => ({ error: { code: -32_600, message: 'bad' } }) }],
  ['a word about a simulated block', { answer: () => ({ error: { code: -38_021, message: 'timestamp order' } }) }],
  ['a status about the request', { fail: () => ({ status: 400 }) }],
  ['an endless answer', { fail: () => 'endless' }],
];

test.each(final)('%s is not asked again', async (_, behaviour) => {
  node.behave(behaviour);
  await expect(connect().request('a', [])).rejects.toThrow();
  expect(node.exchanges).toHaveLength(1);
});

test('a wait that is ended ends the tries', async () => {
  node.behave({ fail: () => ({ status: 500 }) });
  await expect(connect(false).request('a', [])).rejects.toMatchObject({ message: 'HTTP status 500' });
  expect(node.exchanges).toHaveLength(1);
});
