import { startBlackHole, startRpcNode } from '@prism-gateway/testing';
import { custom, http, type Transport } from 'viem';
import { expect, test } from 'vitest';
import { createRpcClient } from './createRpcClient.ts';
import { createRpcTransport } from './createRpcTransport.ts';
import { createTransportClient } from './createTransportClient.ts';

const over = (request: () => Promise<unknown>, timeoutMs = 30_000) =>
  createTransportClient(custom({ request }), { timeoutMs });

test('a result is passed on', async () => {
  expect(await over(async () => '0x1').request('eth_chainId', [])).toBe('0x1');
});

const transports: readonly [string, (url: string) => Transport][] = [
  ['of viem', (url) => http(url)],
  ['of this package', (rpcUrl) => createRpcTransport(createRpcClient({ rpcUrl }))],
];

test.each(transports)('over a transport %s, an error of the node is one', async (_, transport) => {
  const error = { code: -32_000, message: 'nonce too low', data: '0x12' };
  await using node = await startRpcNode({ answer: () => ({ error }) });
  const client = createTransportClient(transport(node.url), { timeoutMs: 30_000 });
  await expect(client.request('eth_chainId', [])).rejects.toMatchObject({ name: 'RpcAnswerError', ...error });
});

test.each(transports)('over a transport %s, a node asks for patience', async (_, transport) => {
  await using node = await startRpcNode({ fail: () => ({ status: 429, headers: { 'retry-after': '3' } }) });
  const client = createTransportClient(transport(node.url), { timeoutMs: 30_000 });
  await expect(client.request('eth_chainId', [])).rejects.toMatchObject({
    name: 'RpcUnavailableError',
    status: 429,
    retryAfterMs: 3000,
  });
});

test('whatever else goes wrong says nothing about the node', async () => {
  const faults = [new TypeError('fetch failed'), new DOMException('late', 'TimeoutError'), new Error('no')];
  for (const fault of faults) {
    const client = over(() => Promise.reject(fault));
    await expect(client.request('eth_chainId', [])).rejects.toMatchObject({ name: 'RpcUnavailableError' });
  }
});

test('a call ends in time, and when the client is closed', async () => {
  const never = () => new Promise<never>(() => undefined);
  await expect(over(never, 20).request('eth_chainId', [])).rejects.toMatchObject({ name: 'RpcUnavailableError' });
  const client = over(never, 60_000);
  const waiting = client.request('eth_chainId', []);
  client.close();
  await expect(waiting).rejects.toMatchObject({ name: 'RpcUnavailableError', message: 'closed' });
});

test('a node that is not there is no answer', async () => {
  await using hole = await startBlackHole();
  const client = createTransportClient(http(hole.url), { timeoutMs: 50 });
  await expect(client.request('eth_chainId', [])).rejects.toMatchObject({ name: 'RpcUnavailableError' });
});
