import { forwarderAbi } from '@prism-gateway/contracts';
import type { Hex } from 'viem';
import { encodeAbiParameters, encodeEventTopics } from 'viem/utils';
import { expect, test } from 'vitest';
import { EXECUTION, OTHER, params, RELAYER, TX, word } from '../../test/watchRig.ts';
import type { ChainRpc } from '../chain/createChainRpc.ts';
import { createFindingCheck } from './createFindingCheck.ts';
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

/** A node with the execution, and with the named transaction if a block holds that. */
function node(by: Hex, isNamedMined: boolean): Pick<ChainRpc, 'read' | 'attempt'> {
  return {
    async read([method, hash], parse) {
      if (method === 'eth_blockNumber') return parse('0x64');
      if (hash === TX) return parse(receiptOf(by));
      return parse(isNamedMined ? { logs: [], blockNumber: '0x50' } : null);
    },
    attempt: async () => ({ returned: '0x' }),
  };
}

// Shows WATCH-1.
test.each([
  ['its own, and the named one is in no block', RELAYER, [false, false], false, 'replaced'],
  ['its own, while its claim was watched', RELAYER, [false, false], true, 'confirmed'],
  ["its own, and the named one is somebody else's", RELAYER, [true, true], false, 'confirmed'],
  ["somebody else's", OTHER, [false, false], false, 'confirmed'],
  ['its own, and nodes differ about the named one', RELAYER, [true, false], false, 'unknown'],
] as const)(
  'a request that another transaction than the named one has carried out: %s',
  async (_, by, nodes, isWatched, expected) => {
    const check = createFindingCheck({
      nodes: nodes.map((isMined) => node(by, isMined)),
      ...{ chainId: 1, forwarder: FORWARDER, recoverSigner: async () => OTHER, listOpenBefore: async () => [] },
    });
    const finding = {
      requestId: 'r',
      kind: 'wrongTransaction',
      relayer: RELAYER,
      text: '',
      txHash: TX,
      block: 100n,
    } as const;
    const report = {
      ...{ request: { action, params }, named: NAMED, claimNonce: undefined, isWatched },
      ...{
        claimedSeconds: 1n,
        endedSeconds: 2n,
        expiresSeconds: 3n,
        isOf: ({ txHash }: StoredExecution) => txHash === TX,
      },
    };
    expect(await check({ finding, report })).toBe(expected);
  },
);
