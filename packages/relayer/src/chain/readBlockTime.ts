import { parseQuantity, parseRecord } from '@prism-gateway/rpc';
import { numberToHex } from 'viem/utils';
import type { ChainRpc } from './createChainRpc.ts';

/**
 * Reads the time of a block.
 *
 * @returns Unix seconds; undefined where the node does not have the block (yet)
 * @throws ChainError
 */
export function readBlockTime(rpc: Pick<ChainRpc, 'read'>, block: bigint | 'pending'): Promise<bigint | undefined> {
  const tag = block === 'pending' ? block : numberToHex(block);
  return rpc.read(['eth_getBlockByNumber', tag, false], (answer) =>
    answer === null ? undefined : parseQuantity(parseRecord(answer, 'block').timestamp, 'block time'),
  );
}
