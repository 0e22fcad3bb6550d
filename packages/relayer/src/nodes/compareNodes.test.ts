import { expect, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import { ChainError } from '../chain/chainError.ts';
import { createNodeComparison } from './compareNodes.ts';

const POLICY = { isOfficial: false, priorityWindow: 60n, maxAge: 86_400n, shareBps: 7000n };
const node = (gasPrice: bigint, policy: object = {}) => ({
  name: 'a node',
  reader: { head: async () => ({ ...HEAD, gasPrice }), policy: async () => ({ ...POLICY, ...policy }) },
});
const fails = {
  name: '',
  reader: {
    ...node(1n).reader,
    head: async () => {
      throw new ChainError('RPC_UNAVAILABLE', 'The node did not answer.');
    },
  },
};

// Shows NODE-5.
test.each<[string, readonly ReturnType<typeof node>[], readonly string[]]>([
  ['all that agree', [node(10n), node(12n), node(9n)], []],
  ['one that makes gas look dear', [node(1000n), node(12n), node(9n)], ['0 the price of gas']],
  ['one that makes gas look cheap', [node(10n), node(0n), node(9n)], ['1 the price of gas']],
  ['three of which each names another price', [node(1n), node(100n), node(10_000n)], []],
  ['one that makes up the window', [node(9n), node(9n), node(9n, { priorityWindow: 10n ** 9n })], ['2 the Forwarder']],
  [
    'one that makes up both',
    [node(900n, { shareBps: 0n }), node(9n), node(9n)],
    ['0 the price of gas', '0 the Forwarder'],
  ],
  ['two that differ: nothing says which is right', [node(1000n), node(10n)], ['both the price of gas']],
  ['two that differ on the Forwarder', [node(9n), node(9n, { maxAge: 0n })], ['both the Forwarder']],
  ['two that differ, while the third is silent', [node(1000n), fails, node(10n)], ['both the price of gas']],
])('of %s', async (_, nodes, expected) => {
  const reported: string[] = [];
  const context = makeContext({
    chain: { nodes, state: { isPricedSince: () => true } },
    listeners: [
      (event) => {
        if (event.type === 'node-outlier') reported.push(`${event.node} ${event.subject}`);
        if (event.type !== 'nodes-differ') return;
        expect(event.text).toMatch(/^of .*, a node says .*; a node says .*; one of them/);
        reported.push(`both ${event.subject}`);
      },
    ],
  });
  const look = createNodeComparison(context);
  for (const _ of [1, 2]) await look();
  expect(reported).toEqual(expected);
});
