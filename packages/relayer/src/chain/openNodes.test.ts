import { hashForwarderDomain } from '@prism-gateway/protocol/typed-data';
import { type RpcNode, type RpcNodeBehaviour, startRpcNode } from '@prism-gateway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createNodes, openNodes } from './openNodes.ts';

const FORWARDER = `0x${'ab'.repeat(20)}` as const;

let nodes: RpcNode[];
let warned: object[];
let ending: AbortController;
beforeEach(async () => {
  nodes = await Promise.all([startRpcNode(), startRpcNode()]);
  warned = [];
  ending = new AbortController();
});
afterEach(async () => {
  ending.abort();
  for (const node of nodes) await node.stop();
});

/** A node of a chain on which the Forwarder is. */
const onChain = (chainId: number): RpcNodeBehaviour => ({
  answer: ({ method }) => ({
    result:
      method === 'eth_chainId' ? `0x${chainId.toString(16)}` : hashForwarderDomain({ chainId, forwarder: FORWARDER }),
  }),
});
const withoutForwarder: RpcNodeBehaviour = {
  answer: ({ method }) => ({ result: method === 'eth_chainId' ? '0x7' : '0x' }),
};
/** A node that has not come to the Forwarder's block, as it says itself. */
const syncing = (said: 'eth_syncing' | 'eth_blockNumber'): RpcNodeBehaviour => ({
  answer({ method }) {
    if (method === 'eth_chainId') return { result: '0x7' };
    if (method === 'eth_syncing') return { result: method === said && { currentBlock: '0x1', highestBlock: '0x9' } };
    return { result: method === 'eth_blockNumber' ? '0x0' : '0x' };
  },
});
const silent: RpcNodeBehaviour = { fail: () => 'silent' };
const down: RpcNodeBehaviour = { fail: () => ({ status: 503 }) };

/** Opens nodes that behave so. @param chainId - as it is set */
async function open(behaviours: readonly RpcNodeBehaviour[], chainId?: number) {
  const leftOut: string[] = [];
  for (const [index, behaviour] of behaviours.entries()) nodes[index]?.behave(behaviour);
  const context = {
    chain: { chainName: 'a', chainId, forwarder: FORWARDER, rpcUrls: nodes.map(({ url }) => url) as [string, string] },
    log: { warn: (facts: object) => void warned.push(facts) },
    ...{ now: () => 0, random: () => 0, onFallback: () => undefined, signal: ending.signal },
    onLeftOut: (reason: string) => void leftOut.push(reason),
  };
  const opened = await openNodes(context, createNodes(context));
  return { chainId: opened.chainId, names: opened.nodes.map(({ name }) => name), leftOut };
}

// Shows NODE-3.
test.each([
  ['is of another chain than the one that is set', onChain(8), 7],
  ['has no Forwarder at the address', withoutForwarder, undefined],
])('one of several nodes that %s is left out, though it is the first', async (_, behaviour, chainId) => {
  expect(await open([behaviour, onChain(7)], chainId)).toEqual({
    ...{ chainId: 7, names: ['node 2 of RPC_URL'] },
    leftOut: [expect.stringMatching(/^node 1 of RPC_URL is left out: .*start again\.$/)],
  });
  expect(warned).toEqual([expect.objectContaining({ node: 'node 1 of RPC_URL' })]);
});

// Shows NODE-3.
test.each([
  ['is silent', silent],
  ['is down', down],
  ['is syncing', syncing('eth_syncing')],
  ['has the first block alone', syncing('eth_blockNumber')],
])('one of several nodes that %s is not waited for, and stays in the list', async (_, behaviour) => {
  const names = ['node 1 of RPC_URL', 'node 2 of RPC_URL'];
  expect(await open([behaviour, onChain(7)])).toEqual({ chainId: 7, names, leftOut: [] });
  expect(warned).toEqual([expect.objectContaining({ node: 'node 1 of RPC_URL' })]);
});

// Shows NODE-3.
test('one of another chain is named, too, that says so once the others have been taken', async () => {
  const late: RpcNodeBehaviour = { ...onChain(8), fail: (n) => (n === 1 ? 'silent' : undefined) };
  const { names, leftOut } = await open([late, onChain(7)], 7);
  expect([names, leftOut]).toEqual([['node 1 of RPC_URL', 'node 2 of RPC_URL'], []]);
  await expect.poll(() => leftOut, { timeout: 30_000 }).toEqual([expect.stringMatching(/^node 1 .* is left out: /)]);
});

// Shows NODE-3.
test('two chains with a Forwarder at one address are told apart by the id that is set, and by nothing else', async () => {
  expect(await open([onChain(8), onChain(7)], 7)).toMatchObject({ chainId: 7 });
  await expect(open([onChain(8), onChain(7)])).rejects.toMatchObject({
    code: 'WRONG_CHAIN',
    message: expect.stringMatching(/node 1 of RPC_URL of chain 8, node 2 of RPC_URL of chain 7. Set chainId/),
  });
});

// Shows NODE-3.
test('where no node can be used, each is named with its reason; one that is down may be well again', async () => {
  await expect(open([withoutForwarder, onChain(8)], 7)).rejects.toMatchObject({
    code: 'WRONG_FORWARDER',
    message: expect.stringMatching(/node 1 of RPC_URL: .* no Forwarder .*node 2 of RPC_URL: .* on chain 8, not on 7/),
  });
  for (const passing of [down, syncing('eth_syncing')])
    await expect(open([onChain(8), passing], 7)).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
});
