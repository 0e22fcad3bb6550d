import { forwarderAbi } from '@prism-gateway/contracts';
import { parseArray, parseLog } from '@prism-gateway/rpc';
import type { Hex } from 'viem';
import { encodeEventTopics, numberToHex } from 'viem/utils';
import { ChainError } from './chainError.ts';
import type { BlockHead } from './chainReader.ts';
import type { ChainRpc } from './createChainRpc.ts';
import { type BlockRange, createWalkBack } from './createWalkBack.ts';

/** A transaction by which a signer has taken back what it had signed with a forwarder nonce. */
interface Invalidation {
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

/**
 * Looks for the transaction by which a signer took back a forwarder nonce.
 *
 * @param query.head - the newest block that counts
 * @returns undefined where the node's logs hold none (yet)
 * @throws ChainError
 * @see docs/specification.md CHAIN-19
 */
export type FindInvalidation = (query: {
  readonly signer: Hex;
  readonly nonce: bigint;
  readonly head: Pick<BlockHead, 'number'>;
}) => Promise<Invalidation | undefined>;

/**
 * Makes the search for forwarder nonces that were taken back on one chain.
 *
 * @param options.fromBlock - where the Forwarder's events begin
 */
export function createFindInvalidation(options: {
  readonly rpc: Pick<ChainRpc, 'read'>;
  readonly forwarder: Hex;
  readonly fromBlock: bigint;
}): FindInvalidation {
  const { rpc, forwarder, fromBlock } = options;
  const walkBack = createWalkBack();

  async function read(topics: unknown, range: BlockRange): Promise<readonly Invalidation[] | undefined> {
    const [from, to] = [numberToHex(range.fromBlock), numberToHex(range.toBlock)];
    try {
      return await rpc.read(['eth_getLogs', { address: forwarder, topics, fromBlock: from, toBlock: to }], (logs) =>
        parseArray(logs, 'logs')
          .map((log) => parseLog(log, 'log'))
          .filter(({ removed }) => !removed)
          // `parseLog` has read both.
          .map((log) => ({ txHash: log.transactionHash as Hex, blockNumber: log.blockNumber as bigint })),
      );
    } catch (error) {
      // It may answer for fewer blocks.
      if (error instanceof ChainError && error.code === 'RPC_UNAVAILABLE') return undefined;
      throw error;
    }
  }

  return async function findInvalidation({ signer, nonce, head }) {
    const topics = encodeEventTopics({ abi: forwarderAbi, eventName: 'NonceInvalidated', args: { signer, nonce } });
    const pages = walkBack({ fromBlock, toBlock: head.number }, (range) => read(topics, range));
    for await (const [found] of pages) if (found !== undefined) return found;
    return undefined;
  };
}
