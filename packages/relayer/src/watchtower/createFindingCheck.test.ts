import { forwarderAbi } from '@prism-gateway/contracts';
import type { Hex } from 'viem';
import { encodeAbiParameters, encodeEventTopics } from 'viem/utils';
import { expect, test } from 'vitest';
import { EXECUTION, OTHER, params, RELAYER, TX, word } from '../../test/watchRig.ts';
import type { CallRpc } from '../chain/createChainRpc.ts';
import { createFindingCheck } from './createFindingCheck.ts';
import type { Finding } from './finding.ts';
import type { StoredExecution } from './journal/openSeenChain.ts';

const FORWARDER = `0x${'cc'.repeat(20)}` as const;
const NAMED = word('12');
const action = 'WRITE_DATA_FOR' as const;

/** The receipt of the execution. */
function receiptOf(relayer: Hex) {
  const { digest, signer, nonce } = EXECUTION;
  const topics = encodeEventTopics({
    abi: forwarderAbi,
    eventName: 'RequestExecuted',
    args: { digest, signer, nonce },
  });
  const data = encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [relayer, 1n]);
  const place = {
    blockNumber: '0x5a',
    blockHash: word('34'),
    transactionHash: TX,
    transactionIndex: '0x0',
    logIndex: '0x0',
  };
  return { blockNumber: '0x5a', logs: [{ address: FORWARDER, topics, data, removed: false, ...place }] };
}

/** What a node shows. */
interface Shown {
  /** Who has carried the request out; absent: nobody. */
  readonly by?: Hex;
  readonly isNamedMined?: boolean;
  /** Whether a transaction with the signature waits in its pool. */
  readonly isWaiting?: boolean;
}

function node({ by, isNamedMined, isWaiting }: Shown): CallRpc {
  return {
    async read([method, hash], parse) {
      if (method === 'eth_getBlockByNumber') return parse({ number: '0x64', timestamp: '0x4' });
      if (method === 'eth_getTransactionCount') return parse('0x1');
      if (method === 'txpool_contentFrom') return parse({ pending: { 1: { input: isWaiting ? params.r : '0x' } } });
      if (hash === TX) return parse(by === undefined ? null : receiptOf(by));
      return parse(isNamedMined ? { logs: [], blockNumber: '0x50' } : null);
    },
    attempt: async () => ({ returned: '0x' }),
  };
}

const own = { by: RELAYER };
const mined = { by: RELAYER, isNamedMined: true };
const waiting = { isWaiting: true };

// Shows WATCH-1.
test.each([
  ['its own, and the named one is in no block', [own, own], false, 'replaced'],
  ['its own, while its claim was watched', [own, own], true, 'confirmed'],
  ["its own, and the named one is somebody else's", [mined, mined], false, 'confirmed'],
  ["somebody else's", [{ by: OTHER }, { by: OTHER }], false, 'confirmed'],
  ['its own, and nodes differ about the named one', [mined, own], false, 'unknown'],
  ['none', [{}, {}], false, 'confirmed'],
  ['none, and its own waits for a block', [waiting, waiting], false, 'unknown'],
  ['none, and its own waits, while its claim was watched', [waiting, waiting], true, 'confirmed'],
] as const)(
  'a request whose named transaction shows nothing of it, carried out by another one: %s',
  async (_, nodes, isWatched, expected) => {
    const check = createFindingCheck({
      nodes: (nodes as readonly Shown[]).map(node),
      ...{ chainId: 1, forwarder: FORWARDER, recoverSigner: async () => OTHER, listOpenBefore: async () => [] },
    });
    const isDone = nodes.some((shown) => 'by' in shown);
    const finding = {
      ...{ requestId: 'r', relayer: RELAYER, text: '', block: 100n },
      ...(isDone ? { kind: 'wrongTransaction', txHash: TX } : { kind: 'falseSuccess', txHash: undefined }),
    } as Finding;
    const report = {
      ...{ request: { action, params }, named: NAMED, claimNonce: undefined, isWatched },
      ...{ claimedSeconds: 1n, endedSeconds: 2n, reportedSeconds: 2n, expiresSeconds: 3n },
      isOf: ({ txHash }: StoredExecution) => txHash === TX,
    };
    expect(await check({ finding, report })).toBe(expected);
  },
);
