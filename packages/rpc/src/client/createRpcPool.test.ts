import { type RpcNode, startRpcNode } from '@prism-gateway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRpcPool } from './createRpcPool.ts';
import type { RpcClient } from './rpcClient.ts';

let nodes: RpcNode[];
let pool: RpcClient;
let nowMs: number;
beforeEach(async () => {
  nowMs = 1_000_000;
  nodes = await Promise.all([startRpcNode(), startRpcNode()]);
  pool = createRpcPool({ rpcUrls: nodes.map(({ url }) => url), monotonicNow: () => nowMs });
});
afterEach(async () => {
  pool.close();
  for (const node of nodes) await node.stop();
});

const counts = () => nodes.map(({ exchanges }) => exchanges.length);

// Shows NODE-1.
test('the first node that answers is asked, and one that does not is passed over for a while', async () => {
  expect(await pool.request('a', [])).toBe('a');
  nodes[0]!.behave({ fail: () => ({ status: 503 }) });
  expect(await pool.request('b', [])).toBe('b');
  expect(await pool.request('c', [])).toBe('c');
  expect(counts()).toEqual([2, 2]);
  nodes[0]!.behave({});
  nowMs += 60_000;
  expect(await pool.request('d', [])).toBe('d');
  expect(counts()).toEqual([3, 2]);
  for (const node of nodes) node.behave({ fail: () => ({ status: 500 }) });
  await expect(pool.request('e', [])).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
});

// Shows NODE-1.
test('a signed transaction goes to every node, and one that takes it is enough', async () => {
  nodes[0]!.behave({ fail: () => ({ status: 500 }) });
  expect(await pool.request('eth_sendRawTransaction', ['0x'])).toBe('eth_sendRawTransaction');
  expect(counts()).toEqual([1, 1]);
});
