import { expect, test } from 'vitest';
import { ChainError } from '../chain/chainError.ts';
import type { AskedRequest, ChainAnswer } from './askChain.ts';
import { type AskedNode, createAskNodes, createTrustHead } from './askNodes.ts';
import type { NoteDispute } from './createNodeNotes.ts';

const NOW_SECONDS = 1_000_000n;
// Nothing else of it is looked at here.
const request = { record: { requestId: 'r' } } as AskedRequest;
const executed: ChainAnswer = { kind: 'executed', txHash: '0x01' };
const other: ChainAnswer = { kind: 'executed', txHash: '0x02' };
const open: ChainAnswer = { kind: 'open' };

const node = (answer: ChainAnswer, ageSeconds: bigint): AskedNode => ({
  name: 'a node',
  ask: async () => answer,
  head: async () => ({ number: 7n, timestamp: NOW_SECONDS - ageSeconds }),
});
const silent: AskedNode = {
  ...node(open, 0n),
  head: async () => {
    throw new ChainError('RPC_UNAVAILABLE', 'The node did not answer.');
  },
};
const ask = (nodes: readonly AskedNode[], maxHeadAgeSeconds = 60) =>
  createAskNodes({ nodes, maxHeadAgeSeconds, now: () => Number(NOW_SECONDS) * 1000, noteDispute })(request);
/** What nodes said of a request that they do not agree on. */
let disputed: readonly { readonly name: string; readonly says: string }[] = [];
const noteDispute: NoteDispute = (_, said) => {
  disputed = said;
};

// Shows RELAY-20.
test('one fresh node is believed, or two that agree; a stale one ends nothing', async () => {
  expect(await ask([node(executed, 60n)])).toEqual(executed);
  expect(await ask([node(open, 61n)])).toEqual({ kind: 'unsettled' });
  expect(await ask([node(open, 61n), node(executed, 0n)])).toEqual(executed);
  expect(await ask([node(open, 61n), node(open, 90n)])).toEqual(open);
  expect(await ask([node(executed, 61n), node(other, 61n)])).toEqual({ kind: 'unsettled' });
  // Blocks that come only with transactions are as old as the last one.
  expect(await ask([node(open, 9999n)], 0)).toEqual(open);
});

test('a node that does not answer is passed over; where none does, that is said', async () => {
  expect(await ask([silent, node(executed, 0n)])).toEqual(executed);
  expect(await ask([silent, node(executed, 61n)])).toEqual({ kind: 'unsettled' });
  await expect(ask([silent])).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
});

// Shows RELAY-20.
test('what is deep by the newest block of one node alone ends nothing while another one that is fresh knows of fewer', async () => {
  /** It says so of a transaction in block 7 if that is three blocks deep. */
  const told = (number: bigint, ageSeconds = 0n): AskedNode => ({
    name: `a node at ${number}`,
    ask: async () => (number >= 9n ? executed : { kind: 'unsettled' }),
    head: async () => ({ number, timestamp: NOW_SECONDS - ageSeconds }),
  });
  const liar = told(200n);
  expect(await ask([liar, told(7n)])).toEqual({ kind: 'unsettled' });
  expect(disputed).toEqual([
    { name: 'a node at 200', says: 'that it is executed in 0x01, up to its block 200' },
    { name: 'a node at 7', says: 'that it is unsettled, up to its block 7' },
  ]);
  expect(await ask([liar, told(8n), told(7n)])).toEqual({ kind: 'unsettled' });
  expect(await ask([liar, told(9n)])).toEqual(executed);
  expect(await ask([told(9n), told(7n), told(9n)])).toEqual(executed);
  // A stale one says nothing against it, nor does a silent one.
  expect(await ask([told(9n), told(7n, 61n)])).toEqual(executed);
  expect(await ask([told(9n), silent])).toEqual(executed);
});

// Shows RELAY-20.
test('of nodes that are fresh two have to agree, unless one alone answers: what one makes up ends nothing', async () => {
  const [first, second] = [node(executed, 0n), node(open, 0n)];
  expect(await ask([first, second])).toEqual({ kind: 'unsettled' });
  expect(await ask([second, first])).toEqual({ kind: 'unsettled' });
  expect(await ask([node(other, 0n), first, first])).toEqual(executed);
  expect(await ask([first, second, second])).toEqual(open);
  expect(await ask([first, silent])).toEqual(executed);
  // Who hangs holds nobody up where two agree.
  const hangs: AskedNode = { ...first, head: () => new Promise(() => undefined) };
  expect(await ask([hangs, second, second])).toEqual(open);
});

// Shows RELAY-20.
test('what the first node’s own check says ends a request only while that node is up to date', async () => {
  const trust = (nodes: readonly AskedNode[]) =>
    createTrustHead({
      nodes,
      // Read from the first of them.
      head: () => nodes[0]!.head(),
      ...{ maxHeadAgeSeconds: 60, now: () => Number(NOW_SECONDS) * 1000 },
    })();
  const ahead = { ...node(open, 0n), head: async () => ({ number: 8n, timestamp: NOW_SECONDS }) };
  expect(await trust([node(open, 60n)])).toBe(true);
  expect(await trust([node(open, 61n)])).toBe(false);
  expect(await trust([node(open, 61n), silent, node(open, 61n)])).toBe(true);
  expect(await trust([node(open, 61n), ahead])).toBe(false);
});
