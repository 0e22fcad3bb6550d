import { startBlackHole } from '@prism-gateway/testing';
import { custom, http } from 'viem';
import { expect, test } from 'vitest';
import { createTransportRpc } from './createTransportRpc.ts';

const over = (request: () => Promise<unknown>, timeoutMs = 30_000) =>
  createTransportRpc(custom({ request }), { timeoutMs });

test('a result is passed on', async () => {
  expect(await over(async () => '0x1').request('eth_chainId', [])).toBe('0x1');
});

test('an error of the node is one, with its code, words and data', async () => {
  const answer = { code: -32_000, message: 'nonce too low', data: '0x12' };
  const rpc = over(() => Promise.reject(Object.assign(new Error(answer.message), answer)));
  await expect(rpc.request('eth_chainId', [])).rejects.toMatchObject({
    name: 'RpcAnswerError',
    code: -32_000,
    message: 'nonce too low',
  });
});

test('whatever else goes wrong says nothing about the node', async () => {
  const faults = [new TypeError('fetch failed'), new DOMException('late', 'TimeoutError'), new Error('no')];
  for (const fault of faults) {
    const rpc = over(() => Promise.reject(fault));
    await expect(rpc.request('eth_chainId', [])).rejects.toMatchObject({ name: 'RpcUnavailableError' });
  }
});

test('a call ends in time, and when the client is closed', async () => {
  const never = () => new Promise<never>(() => undefined);
  await expect(over(never, 20).request('eth_chainId', [])).rejects.toMatchObject({ name: 'RpcUnavailableError' });
  const rpc = over(never, 60_000);
  const waiting = rpc.request('eth_chainId', []);
  rpc.close();
  await expect(waiting).rejects.toMatchObject({ name: 'RpcUnavailableError', message: 'closed' });
});

test('a node that is not there is no answer', async () => {
  await using hole = await startBlackHole();
  const rpc = createTransportRpc(http(hole.url), { timeoutMs: 50 });
  await expect(rpc.request('eth_chainId', [])).rejects.toMatchObject({ name: 'RpcUnavailableError' });
});
