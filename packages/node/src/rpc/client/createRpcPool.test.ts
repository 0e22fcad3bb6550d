import { type RpcNode, startRpcNode } from '@prism-gateway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRpcClient, type RpcClient } from './createRpcClient.ts';
import { createRpcPool } from './createRpcPool.ts';

const NOW_SECONDS = 2_000_000_000;

let nodes: RpcNode[];
let pool: RpcClient;
let nowMs: number;
const connect = () => nodes.map(({ url }) => createRpcClient({ rpcUrl: url, monotonicNow: () => nowMs }));
beforeEach(async () => {
  nowMs = 1_000_000;
  nodes = await Promise.all([startRpcNode(), startRpcNode()]);
  pool = createRpcPool({
    clients: connect(),
    monotonicNow: () => nowMs,
    now: () => NOW_SECONDS * 1000,
  });
});
afterEach(async () => {
  pool.close();
  for (const node of nodes) await node.stop();
});

/** How often each node was asked by a method. */
const counts = (method: string) =>
  nodes.map(({ exchanges }) => exchanges.filter(({ calls }) => calls.some((call) => call.method === method)).length);
const down = { fail: () => ({ status: 503 }) } as const;

// Shows NODE-1.
test('the first node that answers is asked, and one that does not is passed over for a while', async () => {
  expect(await pool.request('a', [])).toBe('a');
  nodes[0]!.behave(down);
  expect(await pool.request('b', [])).toBe('b');
  expect(await pool.request('c', [])).toBe('c');
  expect(['a', 'b', 'c'].map(counts)).toEqual([
    [1, 0],
    [1, 1],
    [0, 1],
  ]);
  nodes[0]!.behave({});
  nowMs += 60_000;
  expect(await pool.request('d', [])).toBe('d');
  expect(counts('d')).toEqual([1, 0]);
  for (const node of nodes) node.behave({ fail: () => ({ status: 500 }) });
  await expect(pool.request('e', [])).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
});

// Shows NODE-1.
test('a signed transaction goes to every node, and one that takes it is enough, while another is silent', async () => {
  const refusing = { answer: () => ({ error: { code: -32_000, message: 'nonce too low' } }) } as const;
  expect(await pool.request('eth_sendRawTransaction', ['0x'])).toBe('eth_sendRawTransaction');
  await expect.poll(() => counts('eth_sendRawTransaction')).toEqual([1, 1]);
  nodes[0]!.behave(refusing);
  expect(await pool.request('eth_sendRawTransaction', ['0x'])).toBe('eth_sendRawTransaction');
  nodes[1]!.behave(down);
  await expect(pool.request('eth_sendRawTransaction', ['0x'])).rejects.toMatchObject({ message: 'nonce too low' });
  nodes[0]!.behave({ fail: () => 'silent' });
  nodes[1]!.behave({});
  expect(await pool.request('eth_sendRawTransaction', ['0x'])).toBe('eth_sendRawTransaction');
});

// Shows NODE-1.
test('a node of another chain is never asked, nor given a transaction', async () => {
  const onChain = (chainId: string) => ({
    answer: ({ method }: { readonly method: string }) => ({ result: method === 'eth_chainId' ? chainId : method }),
  });
  nodes[0]!.behave(onChain('0x1'));
  nodes[1]!.behave(onChain('0x2'));
  expect(await pool.request('a', [])).toBe('a');
  expect(await pool.request('eth_sendRawTransaction', ['0x'])).toBe('eth_sendRawTransaction');
  nodes[0]!.behave(down);
  nowMs += 60_000;
  await expect(pool.request('b', [])).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
  expect(['a', 'b', 'eth_sendRawTransaction'].map((method) => counts(method)[1])).toEqual([0, 0, 0]);
});

// Shows NODE-1.
test('a node of another chain than the one that is set is never asked, though it is the first', async () => {
  const onChain = (chainId: string) => ({
    answer: ({ method }: { readonly method: string }) => ({ result: method === 'eth_chainId' ? chainId : method }),
  });
  nodes[0]!.behave(onChain('0x1'));
  nodes[1]!.behave(onChain('0x02'));
  const pinned = createRpcPool({ clients: connect(), chainId: 2, monotonicNow: () => nowMs });
  expect(await pinned.request('a', [])).toBe('a');
  expect(counts('a')).toEqual([0, 1]);
  // It was led to another one for a moment.
  nodes[0]!.behave(onChain('0x2'));
  nowMs += 60_000;
  expect(await pinned.request('b', [])).toBe('b');
  expect(counts('b')).toEqual([1, 0]);
  pinned.close();
});

// Shows NODE-1.
test('a node that is silent holds nobody up: the next one is asked beside it, and it is passed over for a while', async () => {
  nodes[0]!.behave({ fail: () => 'silent' });
  expect(await pool.request('a', [])).toBe('a');
  const before = nodes[0]!.exchanges.length;
  expect(await pool.request('b', [])).toBe('b');
  expect(nodes[0]!.exchanges).toHaveLength(before);
});

// Shows NODE-1.
test('a node whose newest block is behind that of another is passed over, unless all are', async () => {
  const at = (number: number) => ({
    answer: ({ method }: { readonly method: string }) => ({
      result: method === 'eth_getBlockByNumber' ? { number: `0x${number.toString(16)}` } : method,
    }),
  });
  const readHead = async () => Number(Object(await pool.request('eth_getBlockByNumber', ['latest', false])).number);
  nodes[0]!.behave(at(100));
  nodes[1]!.behave(at(110));
  expect(await readHead()).toBe(100);
  nodes[0]!.behave(down);
  expect(await readHead()).toBe(110);
  nodes[0]!.behave(at(108));
  nowMs += 60_000;
  // Two blocks are nothing.
  expect(await readHead()).toBe(108);
  nodes[0]!.behave(at(107));
  expect(await readHead()).toBe(110);
  expect(await pool.request('a', [])).toBe('a');
  expect(counts('a')).toEqual([0, 1]);
  nowMs += 60_000;
  for (const node of nodes) node.behave(at(90));
  expect(await readHead()).toBe(90);
});

/** A node whose newest block is this one. */
const withHead = (number: number, timestamp: number) => ({
  answer: ({ method }: { readonly method: string }) => ({
    result:
      method === 'eth_getBlockByNumber'
        ? { number: `0x${number.toString(16)}`, timestamp: `0x${timestamp.toString(16)}` }
        : method,
  }),
});

// Shows NODE-1.
test.each([
  ['is of the future', 1050, NOW_SECONDS + 3600],
  ['is further than any chain could have come', 5000, NOW_SECONDS],
])('a node whose newest block %s is not believed, nor asked', async (_, number, seconds) => {
  nodes[0]!.behave(withHead(number, seconds));
  nodes[1]!.behave(withHead(1000, NOW_SECONDS - 2));
  const readHead = async () => Number(Object(await pool.request('eth_getBlockByNumber', ['latest', false])).number);
  expect(await readHead()).toBe(1000);
  expect(await pool.request('a', [])).toBe('a');
  expect(counts('a')).toEqual([0, 1]);
  // It is so later, too; and is asked if no other one answers.
  nowMs += 61_000;
  expect(await readHead()).toBe(1000);
  nodes[1]!.behave(down);
  nowMs += 61_000;
  expect(await readHead()).toBe(number);
});

// Shows NODE-1.
test('a node that is far ahead of one that has stood still is believed', async () => {
  nodes[0]!.behave(withHead(1000, NOW_SECONDS - 3600));
  nodes[1]!.behave(withHead(5000, NOW_SECONDS));
  const readHead = async () => Number(Object(await pool.request('eth_getBlockByNumber', ['latest', false])).number);
  expect(await readHead()).toBe(5000);
});

// Shows NODE-1.
test('with a slow clock, and one node that stands still, two that agree are believed', async () => {
  nodes.push(await startRpcNode());
  const three = createRpcPool({ clients: connect(), monotonicNow: () => nowMs, now: () => NOW_SECONDS * 1000 });
  nodes[0]!.behave(withHead(910, NOW_SECONDS - 10));
  nodes[1]!.behave(withHead(924, NOW_SECONDS + 160));
  nodes[2]!.behave(withHead(925, NOW_SECONDS + 172));
  const readHead = async () => Number(Object(await three.request('eth_getBlockByNumber', ['latest', false])).number);
  expect(await readHead()).toBe(924);
  three.close();
});
