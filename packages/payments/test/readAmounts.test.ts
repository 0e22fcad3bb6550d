import { creditTokenAbi, exchangeAbi } from '@prism-gateway/contracts';
import { bareExchangeAbi, bareExchangeBytecode } from '@prism-gateway/devnet/test-tokens';
import { type RpcFaultProxy, startRpcFaultProxy } from '@prism-gateway/testing';
import { type Address, createPublicClient, http } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type PaymentsRig, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { connectNode } from '../src/chain/connectNode.ts';
import { readAmounts } from '../src/chain/readAmounts.ts';
import { type CallParameter, refuseTogether } from './rig/refuseTogether.ts';

let rig: PaymentsRig;
let node: RpcFaultProxy;
let bare: Address;

beforeAll(async () => {
  rig = await startPaymentsRig();
  const { stablecoin, creditToken } = rig.deployment;
  const args = [stablecoin, creditToken, 1000n];
  bare = await rig.deploy({ abi: bareExchangeAbi, bytecode: bareExchangeBytecode, args });
});
afterAll(() => rig.close());
beforeEach(async () => {
  node = await startRpcFaultProxy({ target: rig.rpcUrl });
});
afterEach(() => node.stop());

/** Balance, quote, and three prices that nobody tells: of a contract without the function, of no contract, of one that refuses. */
async function readSome() {
  const { signal } = new AbortController();
  const client = createPublicClient({
    transport: connectNode({ rpcUrl: node.url, timeoutMs: 5000, attempts: 1, signal }),
  });
  const { exchange, creditToken } = rig.deployment;
  const nobody = '0x00000000000000000000000000000000000000aa';
  const rate = { abi: exchangeAbi, functionName: 'rate' } as const;
  return await readAmounts(client, [
    { address: creditToken, abi: creditTokenAbi, functionName: 'balanceOf', args: [exchange] },
    { address: exchange, abi: exchangeAbi, functionName: 'quote', args: [5n] },
    { address: bare, ...rate },
    { address: nobody, ...rate },
    { address: exchange, abi: exchangeAbi, functionName: 'quote', args: [2n ** 256n - 1n] },
  ]);
}

async function expectSome(): Promise<void> {
  const { exchange, creditToken } = rig.deployment;
  const client = createPublicClient({ transport: http(rig.rpcUrl) });
  const read = { address: creditToken, abi: creditTokenAbi, functionName: 'balanceOf' } as const;
  const held = await client.readContract({ ...read, args: [exchange] });
  expect(await readSome()).toEqual([held, 5_000n * 10n ** 12n, undefined, undefined, undefined]);
}

test('amounts of several contracts cost one call, and what one refuses is undefined', async () => {
  await expectSome();
  expect([...node.counts]).toEqual([['eth_call', 1]]);
});

test('a node that takes no call without an address is asked for each by itself', async () => {
  node.setPlan((method, _, [call]) => (method === 'eth_call' ? refuseTogether(call as CallParameter) : undefined));
  await expectSome();
  expect(node.counts.get('eth_call')).toBe(6);
});

test('a node that does not answer, or not with amounts, is no contract that refuses', async () => {
  node.setPlan(() => ({ kind: 'serverError' }));
  await expect(readSome()).rejects.toThrow();
  expect(node.total()).toBe(1);
  node.setPlan(() => ({ kind: 'error', code: -32_000, message: 'header not found' }));
  await expect(readSome()).rejects.toThrow('header not found');
});
