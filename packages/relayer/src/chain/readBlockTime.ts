import { numberToHex } from 'viem/utils';
import type { Rpc } from './createRpc.ts';
import { readQuantity, readRecord } from './readAnswer.ts';

/**
 * Reads the time of a block.
 *
 * @returns Unix seconds; undefined where the node does not have the block (yet)
 * @throws ChainError
 */
export async function readBlockTime(rpc: Rpc, block: bigint | 'pending'): Promise<bigint | undefined> {
  const tag = block === 'pending' ? block : numberToHex(block);
  const answer = await rpc.call('eth_getBlockByNumber', [tag, false]);
  return answer === null ? undefined : readQuantity(readRecord(answer, 'block').timestamp, 'block time');
}
