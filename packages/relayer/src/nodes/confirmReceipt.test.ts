import type { Receipt } from '@prism-gateway/sender';
import { expect, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { ChainError } from '../chain/chainError.ts';
import type { ReadRpc } from '../chain/createChainRpc.ts';
import { createHealth } from '../events/createHealth.ts';
import type { Listener } from '../events/events.ts';
import { listenToDisputes } from '../events/healthListeners.ts';
import { confirmReceipt } from './confirmReceipt.ts';

const [BLOCK, OTHER_BLOCK, HASH] = ['11', '22', '33'].map((byte) => `0x${byte.repeat(32)}` as const) as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
];
const FROM = `0x${'f1'.repeat(20)}` as const;
const SENT: Receipt = {
  ...{ txHash: HASH, blockNumber: 7n, blockHash: BLOCK, status: 'success', logs: [] },
  ...{ gasUsed: 9n, effectiveGasPrice: 1n, dataFee: 0n },
};

type NodeRpc = ReadRpc;
const receipt = (fields: object = {}) => ({
  ...{ transactionHash: HASH, from: FROM, blockHash: BLOCK, blockNumber: '0x7', status: '0x1', logs: [] },
  ...{ gasUsed: '0x9', effectiveGasPrice: '0x1' },
  ...fields,
});
const log = {
  ...{ address: FROM, topics: [HASH], data: '0x01', transactionHash: HASH, blockHash: BLOCK, blockNumber: '0x7' },
  ...{ logIndex: '0x0', transactionIndex: '0x0', removed: false },
};

/** A node whose newest block has a number, and that has this receipt. */
const node = (found: unknown, head = '0x7'): NodeRpc => ({
  read: async ([method], parse) => parse(method === 'eth_blockNumber' ? head : found),
});
const agrees = node(receipt());
const reverts = node(receipt({ status: '0x0' }));
const showsMore = node(receipt({ logs: [log] }));
const elsewhere = node(receipt({ blockHash: OTHER_BLOCK }));
const knowsNone = node(null);
const isBehind = node(null, '0x6');
const fails: NodeRpc = {
  read: async () => {
    throw new ChainError('RPC_UNAVAILABLE', 'The node did not answer.');
  },
};
const isSilent: NodeRpc = { read: () => new Promise(() => undefined) };
const nameAll = (nodes: readonly NodeRpc[]) => nodes.map((rpc, index) => ({ name: `node ${index + 1}`, rpc }));
/** Makes the question to some nodes. */
function confirmAt(
  rpcs: readonly NodeRpc[],
  given: {
    readonly confirmations?: number;
    readonly now?: () => number;
    readonly listeners?: readonly Listener[];
  } = {},
) {
  const { confirmations = 1, now = () => 0, listeners = [] } = given;
  const context = makeContext({ chain: { nodes: nameAll(rpcs) }, policy: { confirmations }, now, listeners });
  return () => confirmReceipt(context, SENT);
}

// Shows RELAY-20.
test.each<[string, readonly NodeRpc[], object]>([
  ['one node alone', [knowsNone], { kind: 'mined', receipt: SENT }],
  ['two that agree', [agrees, agrees], { kind: 'mined', receipt: SENT }],
  ['two of three', [agrees, reverts, agrees], { kind: 'mined', receipt: SENT }],
  ['two of three, while the third is silent', [isSilent, agrees, agrees], { kind: 'mined', receipt: SENT }],
  ['one, while the others do not answer', [agrees, fails, fails], { kind: 'mined', receipt: SENT }],
  ['one, while another one is behind', [agrees, isBehind, fails], { kind: 'undecided' }],
  ['two, while the third is behind', [agrees, isBehind, agrees], { kind: 'mined', receipt: SENT }],
  ['one, while the others are behind', [agrees, isBehind, isBehind], { kind: 'undecided' }],
  [
    'two that have it reverted',
    [agrees, reverts, reverts],
    { kind: 'mined', receipt: { ...SENT, status: 'reverted' } },
  ],
  ['two that know nothing of its events', [showsMore, agrees, agrees], { kind: 'mined', receipt: SENT }],
  ['two that do not have it', [agrees, knowsNone, knowsNone], { kind: 'none' }],
  ['one against one', [agrees, elsewhere], { kind: 'undecided' }],
  ['one that does not have it, alone', [knowsNone, fails], { kind: 'undecided' }],
  ['three that differ', [agrees, elsewhere, knowsNone], { kind: 'undecided' }],
  ['none that answers', [fails, isBehind], { kind: 'undecided' }],
])('what %s say of a mined transaction counts', async (_, rpcs, word) => {
  expect(await confirmAt(rpcs)()).toEqual(word);
});

// Shows RELAY-20.
test('a node that makes up how deep a transaction is ends nothing: another one has to know of those blocks, unless it has got stuck', async () => {
  let nowMs = 0;
  let head = '0x7';
  const liar = node(receipt(), '0x64');
  const honest: NodeRpc = { read: (call, parse) => node(receipt(), head).read(call, parse) };
  const confirm = confirmAt([liar, honest], { confirmations: 3, now: () => nowMs });
  expect(await confirm()).toEqual({ kind: 'undecided' });
  head = '0x8';
  nowMs = 59_000;
  expect(await confirm()).toEqual({ kind: 'undecided' });
  nowMs = 118_000;
  expect(await confirm()).toEqual({ kind: 'undecided' });
  head = '0x9';
  expect(await confirm()).toEqual({ kind: 'mined', receipt: SENT });
  head = '0x8';
  expect(await confirm()).toEqual({ kind: 'undecided' });
  nowMs += 60_000;
  expect(await confirm()).toEqual({ kind: 'mined', receipt: SENT });
});

// Shows RELAY-20.
test('nodes that say different things of a transaction for long make the health red, until they agree', async () => {
  let nowMs = 0;
  const now = () => nowMs;
  const health = createHealth({ parts: ['nodes'], silentMs: 1, now, monotonicNow: now });
  let other = reverts;
  const changing: NodeRpc = { read: (call, parse) => other.read(call, parse) };
  const confirm = confirmAt([agrees, changing], { now, listeners: [listenToDisputes(health, now)] });
  await confirm();
  expect(health.faults()).toEqual([]);
  nowMs = 20_000;
  await confirm();
  expect(health.faults()).toEqual([
    expect.stringMatching(
      /do not agree .*0x3333.*node 1 says that it is mined in block 7 .*node 2 says .*reverted.*; .*RPC_URL/,
    ),
  ]);
  other = agrees;
  await confirm();
  expect(health.faults()).toEqual([]);
});
