import { expect, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { HEAD } from '../../test/makeHead.ts';
import { ChainError } from '../chain/chainError.ts';
import type { Execution } from '../chain/readExecutions.ts';
import { createRequestHasher, listSignedParts, type SignedPart } from '../checks/findNonce.ts';
import type { RelayNode } from '../lifecycle/context.ts';
import { findOutcome, isUpToDate } from './findOutcome.ts';

const NOW_SECONDS = 1_000_000n;
const SIGNER = `0x${'aa'.repeat(20)}` as const;
const WORD = `0x${'11'.repeat(32)}` as const;
const signature = { signer: SIGNER, r: WORD, s: WORD };
const params = { ...signature, cloudId: WORD, dataId: WORD, payload: '0x', relayerFee: '1', timestamp: '1', v: 27 };
const request = {
  record: { requestId: 'r', action: 'WRITE_DATA_FOR', signer: SIGNER, createdAt: '', params },
  signatures: [{ ...signature, nonce: 0n }],
} as const;
const replaced = (txHash: string) => ({
  kind: 'replaced',
  reason: `its forwarder nonce 0 was used by another request, in ${txHash}`,
});
const [used, other] = [replaced('0x01'), replaced('0x02')];
const open = { kind: 'open' };

type Node = Partial<Omit<RelayNode, 'reader'>> & { readonly reader: Partial<RelayNode['reader']> };

const TAKEN_BACK = { txHash: '0x03', blockNumber: 7n } as const;

/** A node whose newest block is of that age, and that knows which transaction in block 7 has used the request's nonce. */
function node(found: typeof used | typeof open, ageSeconds: bigint, number = 7n): Node {
  const txHash = found === used ? '0x01' : '0x02';
  const execution = { txHash, blockNumber: 7n, signer: SIGNER, nonce: 0n, digest: WORD } as unknown as Execution;
  return {
    name: `a node at ${number}`,
    reader: {
      nonces: async () => new Map([[SIGNER, found === open ? 0n : 1n]]),
      block: async () => ({ ...HEAD, number, timestamp: NOW_SECONDS - ageSeconds }),
    },
    findExecution: async () => execution,
  };
}
const silent: Node = {
  ...node(open, 0n),
  reader: {
    block: async () => {
      throw new ChainError('RPC_UNAVAILABLE', 'The node did not answer.');
    },
  },
};
const makeNodes = (nodes: readonly Node[], policy: object = {}) =>
  makeContext({
    chain: {
      ...{ nodes, reader: nodes[0]?.reader ?? {} },
      state: { policy: async () => ({ isOfficial: true, priorityWindow: 0n, maxAge: 86_400n, shareBps: 10_000n }) },
    },
    policy: { maxHeadAgeSeconds: 60, confirmations: 1, ...policy },
    now: () => Number(NOW_SECONDS) * 1000,
    listeners: [
      (event) => {
        if (event.type === 'nodes-asked') disputed = event.dispute;
      },
    ],
  });
const ask = (nodes: readonly Node[], policy: object = {}) => findOutcome(makeNodes(nodes, policy), request);
/** The nodes' statements on a request that they do not agree on. */
let disputed: readonly { readonly name: string; readonly says: string }[] = [];

// Shows RELAY-20.
test('one fresh node is believed, or two that agree; a stale one ends nothing', async () => {
  expect(await ask([node(used, 60n)])).toEqual(used);
  expect(await ask([node(open, 61n)])).toEqual({ kind: 'undecided' });
  expect(await ask([node(open, 61n), node(used, 0n)])).toEqual(used);
  expect(await ask([node(open, 61n), node(open, 90n)])).toEqual(open);
  expect(await ask([node(used, 61n), node(other, 61n)])).toEqual({ kind: 'undecided' });
  // Blocks that come only with transactions are as old as the last one.
  expect(await ask([node(open, 9999n)], { maxHeadAgeSeconds: 0 })).toEqual(open);
});

test('a node that does not answer is passed over; where none does, that is said', async () => {
  expect(await ask([silent, node(used, 0n)])).toEqual(used);
  expect(await ask([silent, node(used, 61n)])).toEqual({ kind: 'undecided' });
  await expect(ask([silent])).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
});

// Shows RELAY-20.
test('what is deep by the newest block of one node alone ends nothing while another one that is fresh knows of fewer', async () => {
  /** Of a transaction in block 7, which has to be three blocks deep. */
  const reported = (number: bigint, ageSeconds = 0n) => node(used, ageSeconds, number);
  const askDeep = (nodes: readonly Node[]) => ask(nodes, { confirmations: 3 });
  const liar = reported(200n);
  expect(await askDeep([liar, reported(7n)])).toEqual({ kind: 'undecided' });
  expect(disputed).toEqual([
    { name: 'a node at 200', says: `that it is ${used.reason}, up to its block 200` },
    { name: 'a node at 7', says: 'that it is undecided, up to its block 7' },
  ]);
  expect(await askDeep([liar, reported(8n), reported(7n)])).toEqual({ kind: 'undecided' });
  expect(await askDeep([liar, reported(9n)])).toEqual(used);
  expect(await askDeep([reported(9n), reported(7n), reported(9n)])).toEqual(used);
  // A stale one says nothing against it, nor does a silent one.
  expect(await askDeep([reported(9n), reported(7n, 61n)])).toEqual(used);
  expect(await askDeep([reported(9n), silent])).toEqual(used);
});

// Shows RELAY-20.
test('of nodes that are fresh two have to agree, unless one alone answers: what one makes up ends nothing', async () => {
  const [first, second] = [node(used, 0n), node(open, 0n)];
  expect(await ask([first, second])).toEqual({ kind: 'undecided' });
  expect(await ask([second, first])).toEqual({ kind: 'undecided' });
  expect(await ask([node(other, 0n), first, first])).toEqual(used);
  expect(await ask([first, second, second])).toEqual(open);
  expect(await ask([first, silent])).toEqual(used);
  // Who hangs holds nobody up if two agree.
  const hangs: Node = { ...first, reader: { block: () => new Promise(() => undefined) } };
  expect(await ask([hangs, second, second])).toEqual(open);
});

/** A node on which nothing of the past may be looked for. */
const forgets = async () => {
  throw new TypeError('the logs are searched');
};

// Shows RELAY-4.
test('a forwarder nonce that was used before a request could be carried out was used by another one', async () => {
  const before = { ...node(used, 0n), findFirstUse: async () => 'earlier' as const, findExecution: forgets };
  const reason = 'its forwarder nonce 0 was used before its timestamp';
  expect(await ask([before])).toEqual({ kind: 'replaced', reason });
});

// Shows RELAY-4.
test('what was used since is looked for from there on; if the logs do not show it yet, nothing ends', async () => {
  const searched: (bigint | undefined)[] = [];
  const since = (invalidated?: bigint): Node => ({
    ...node(used, 0n, 9n),
    findFirstUse: async ({ deepest }) => deepest - 4n,
    findExecution: async ({ from }) => void searched.push(from),
    async findInvalidation({ from }) {
      searched.push(from);
      return invalidated === undefined ? undefined : { txHash: '0x03', blockNumber: invalidated };
    },
  });
  const askDeep = (invalidated?: bigint) => ask([since(invalidated)], { confirmations: 3 });
  expect(await askDeep()).toEqual({ kind: 'undecided' });
  expect(await askDeep(8n)).toEqual({ kind: 'undecided' });
  expect(await askDeep(7n)).toEqual({ kind: 'replaced', reason: 'its signer took back forwarder nonce 0, in 0x03' });
  expect(new Set(searched)).toEqual(new Set([3n]));
});

// Shows RELAY-5.
test('a delegated account may have had it carried out with another nonce than it was signed for', async () => {
  const part = listSignedParts(request.record as never)[0] as SignedPart;
  const { chainId, forwarder } = makeContext({}).chain;
  const digestWith = createRequestHasher({
    ...{ action: part.action, params: part.params as never },
    ...{ chainId, forwarder },
  });
  const event = { txHash: '0x04', blockNumber: 6n, signer: SIGNER, nonce: 1n, digest: digestWith(1n) } as never;
  const delegated = (code: `0x${string}`): Node => ({
    reader: { ...node(open, 0n).reader, nonces: async () => new Map([[SIGNER, 2n]]), code: async () => code },
    findExecution: async ({ isWanted = () => true }) => [event].find(isWanted),
  });
  const later = { ...request, signatures: [{ ...signature, nonce: 2n }] };
  const askLater = (code: `0x${string}`) => findOutcome(makeNodes([delegated(code)]), later);
  expect(await askLater('0xef0100')).toEqual({ kind: 'executed', txHash: '0x04' });
  expect(await askLater('0x')).toEqual(open);
});

// Shows RELAY-4.
test('of what was posted a week after its end nothing is looked for: nobody has carried it out for this queue', async () => {
  const askPosted = async (seconds: number) => {
    const record = { ...request.record, createdAt: new Date(seconds * 1000).toISOString() };
    const asked: Node = { ...node(used, 0n), findFirstUse: async () => 0n };
    const silenced = seconds > 691_201 ? { findExecution: forgets } : {};
    return await findOutcome(makeNodes([{ ...asked, ...silenced }]), { ...request, record });
  };
  expect(await askPosted(691_202)).toEqual(open);
  expect(await askPosted(691_201)).toEqual(used);
});

// Shows RELAY-20.
test('what the first node’s own check says ends a request only while that node is up to date', async () => {
  const trust = (nodes: readonly Node[]) => isUpToDate(makeNodes(nodes));
  const ahead = node(open, 0n, 8n);
  expect(await trust([node(open, 60n)])).toBe(true);
  expect(await trust([node(open, 61n)])).toBe(false);
  expect(await trust([node(open, 61n), silent, node(open, 61n)])).toBe(true);
  expect(await trust([node(open, 61n), ahead])).toBe(false);
});

// Shows RELAY-5.
test.each<[string, Partial<Node>, string]>([
  ['shows no use of its newest nonce, which was used since', { findFirstUse: async () => 5n }, 'undecided'],
  ['shows another use of it', { findFirstUse: async () => 5n, findInvalidation: async () => TAKEN_BACK }, 'open'],
  ['knows that it was used earlier', { findFirstUse: async () => 'earlier' }, 'open'],
])('of a contract wallet’s request that is in no log, a node that %s', async (_, what, kind) => {
  const wallet = { ...request, signatures: [{ ...signature, nonce: undefined }] };
  const none = { findExecution: async () => undefined, findInvalidation: async () => undefined };
  expect(await findOutcome(makeNodes([{ ...node(used, 0n), ...none, ...what }]), wallet)).toEqual({ kind });
});
