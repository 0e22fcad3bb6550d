import { createRpcClient, parseQuantity } from '@prism-gateway/node/rpc';
import { type RpcNode, startBlackHole, startRpcNode } from '@prism-gateway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createChainRpc } from './createChainRpc.ts';

let node: RpcNode;
beforeEach(async () => {
  node = await startRpcNode();
});
afterEach(() => node.stop());

const open = (rpcUrl = `${node.url}/secret-key`, signal = new AbortController().signal) =>
  createChainRpc({
    clients: [createRpcClient({ rpcUrl })],
    now: () => 0,
    random: () => 0,
    onFallback: () => undefined,
    signal,
  });

test('a call of a turn is asked with the others, and its result is read', async () => {
  node.behave({ answer: ({ params = [] }) => ({ result: params[0] }) });
  const rpc = open();
  const read = (text: string) => rpc.read(['eth_x', text], (result) => parseQuantity(result, 'number'));
  expect(await Promise.all([read('0x1'), read('0x2')])).toEqual([1n, 2n]);
  expect(node.exchanges).toHaveLength(1);
});

test('a node that does not answer is asked four times, and its error names the call and no URL', async () => {
  node.behave({ fail: () => 'garbage' });
  const error = await open()
    .read(['eth_chainId'], String)
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'RPC_UNAVAILABLE',
    message: 'The node did not answer eth_chainId: the answer is not JSON.',
  });
  expect(`${(error as Error).stack} ${(error as Error).cause}`).not.toContain('secret-key');
  expect(node.exchanges).toHaveLength(4);
});

test('what cannot be read, and what the node refuses, is told apart', async () => {
  const rpc = open();
  node.behave({ answer: () => ({ result: 'moon' }) });
  const reading = rpc.read(['eth_chainId'], (result) => parseQuantity(result, 'chain id'));
  await expect(reading).rejects.toMatchObject({ code: 'RPC_ANSWER_INVALID' });
  node.behave({ answer: () => ({ error: { code: -32_601, message: 'no such method' } }) });
  await expect(rpc.read(['eth_x'], String)).rejects.toMatchObject({
    code: 'RPC_UNAVAILABLE',
    message: 'The node refused eth_x: no such method.',
  });
});

test('a revert is an answer', async () => {
  node.behave({ answer: () => ({ error: { code: 3, message: 'execution reverted', data: '0xabcd' } }) });
  expect(await open().attempt(['eth_call'])).toEqual({ reverted: '0xabcd' });
  node.behave({ answer: () => ({ result: '0x12' }) });
  expect(await open().attempt(['eth_call'])).toEqual({ returned: '0x12' });
});

test('a simulation that the node refuses by every method is an error of the chain', async () => {
  node.behave({ answer: () => ({ error: { code: -32_601, message: 'no such method' } }) });
  const call = { from: `0x${'11'.repeat(20)}`, to: `0x${'22'.repeat(20)}`, data: '0x' } as const;
  await expect(open().simulate(call, { seconds: 1n })).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
});

test('a signal ends the wait for a node that hangs', async () => {
  await using hole = await startBlackHole();
  const end = new AbortController();
  const rpc = open(hole.url, end.signal);
  const asked = rpc.read(['eth_chainId'], String);
  await expect.poll(() => hole.connections()).toBe(1);
  end.abort();
  await expect(asked).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
  await expect(rpc.read(['eth_chainId'], String)).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
  await expect(open(hole.url, end.signal).read(['eth_chainId'], String)).rejects.toMatchObject({
    code: 'RPC_UNAVAILABLE',
  });
  expect(hole.connections()).toBe(1);
});
