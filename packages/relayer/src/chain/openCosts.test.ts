import type { CostModel } from '@prism-gateway/node/rpc';
import { expect, test } from 'vitest';
import { ChainError } from './chainError.ts';
import { openCosts } from './openCosts.ts';
import type { ChainNode } from './openNodes.ts';

type Kind = CostModel['kind'];

/** Nodes of which each has its own word, and the way to the first of them that is not deprioritized. */
function open(kinds: readonly (Kind | undefined)[]) {
  const deprioritized: number[] = [];
  async function report(kind: Kind | undefined): Promise<CostModel> {
    if (kind === undefined) throw new ChainError('RPC_UNAVAILABLE', 'The node did not answer.');
    return { kind, description: '', extraCost: async () => ({ wei: 0n, gas: 0n }) };
  }
  const rpc = {
    pool: { deprioritize: (node: number) => void deprioritized.push(node) },
    openCosts: () => report(kinds.find((kind, place) => kind !== undefined && !deprioritized.includes(place))),
  };
  const nodes = kinds.map((kind, place) => ({
    ...{ name: `node ${place + 1}`, isSilent: false },
    // Of a node only this is asked.
    rpc: { openCosts: () => report(kind) } as ChainNode['rpc'],
  }));
  return openCosts(rpc, nodes);
}

// Shows NODE-5.
test.each<[string, readonly (Kind | undefined)[], Kind]>([
  ['a single node', ['op-stack'], 'op-stack'],
  ['two that agree', ['op-stack', 'op-stack'], 'op-stack'],
  ['two of three, whatever the first says', ['plain', 'op-stack', 'op-stack'], 'op-stack'],
  ['the only one that answers', [undefined, 'arbitrum'], 'arbitrum'],
])('%s is believed how the chain charges', async (_, kinds, expected) => {
  expect((await open(kinds)).kind).toBe(expected);
});

// Shows NODE-5.
test('two nodes that differ on how the chain charges are not chosen from, and both are named', async () => {
  await expect(open(['plain', 'op-stack'])).rejects.toMatchObject({
    code: 'RPC_UNAVAILABLE',
    message: expect.stringContaining('node 1 says plain; node 2 says op-stack'),
  });
});
