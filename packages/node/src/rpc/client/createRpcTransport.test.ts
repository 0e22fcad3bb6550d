import { type RpcNode, startRpcNode } from '@prism-gateway/testing';
import { BaseError, ContractFunctionRevertedError, createPublicClient, parseAbi } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRpcClient } from './createRpcClient.ts';
import { createRpcTransport } from './createRpcTransport.ts';

let node: RpcNode;
beforeEach(async () => {
  node = await startRpcNode();
});
afterEach(() => node.stop());

const connect = () => {
  const client = createRpcClient({ rpcUrl: `${node.url}/secret-key` });
  return createPublicClient({ transport: createRpcTransport(client) });
};

test('a public client of viem reads through it, and its calls share a request', async () => {
  node.behave({ answer: ({ method }) => ({ result: method === 'eth_chainId' ? '0x7a69' : '0x10' }) });
  const client = connect();
  expect(await Promise.all([client.getChainId(), client.getBlockNumber()])).toEqual([31_337, 16n]);
  expect(node.exchanges.map(({ calls }) => calls.length)).toEqual([2]);
});

test('viem reads a revert out of the error', async () => {
  // `Bad()`.
  const data = '0x9c17e3fb';
  node.behave({ answer: () => ({ error: { code: 3, message: 'execution reverted', data } }) });
  const abi = parseAbi(['function f() view returns (uint256)', 'error Other()']);
  const read = connect().readContract({ abi, address: `0x${'11'.repeat(20)}`, functionName: 'f' });
  const error = await read.catch((thrown: unknown) => thrown);
  const reverted = error instanceof BaseError ? error.walk((at) => at instanceof ContractFunctionRevertedError) : error;
  expect(reverted).toMatchObject({ name: 'ContractFunctionRevertedError', signature: data });
});

test.each([
  ['no answer', { status: 500 }],
  ['an error', { status: 200, body: { jsonrpc: '2.0', id: null, error: { code: -32_603, message: 'oh' } } }],
])('after %s nothing is repeated, and the URL is reported nowhere in the error', async (_, failure) => {
  node.behave({ fail: () => failure });
  const error = await connect()
    .getBlockNumber()
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(BaseError);
  for (let layer = error; layer instanceof Error; layer = layer.cause) {
    expect(`${layer.message}${JSON.stringify(layer)}`).not.toContain('secret-key');
  }
  expect(node.exchanges).toHaveLength(1);
});
