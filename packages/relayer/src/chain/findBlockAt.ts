import { ChainError } from './chainError.ts';
import type { ChainRpc } from './createChainRpc.ts';
import { readBlockTime } from './readBlockTime.ts';

/**
 * Finds the newest block that is no later than a time, by halving.
 *
 * @param search.seconds - Unix time
 * @param search.fromBlock - the oldest block that is looked at
 * @param search.head - the newest one
 * @returns its number; one before `fromBlock` where all are later
 * @throws ChainError
 */
export async function findBlockAt(search: {
  readonly rpc: Pick<ChainRpc, 'read'>;
  readonly seconds: bigint;
  readonly fromBlock: bigint;
  readonly head: { readonly number: bigint; readonly timestamp: bigint };
}): Promise<bigint> {
  const { rpc, seconds, fromBlock, head } = search;
  if (head.timestamp <= seconds) return head.number;
  let [early, late] = [fromBlock - 1n, head.number];
  while (late - early > 1n) {
    const middle = (early + late) / 2n;
    const timestamp = await readBlockTime(rpc, middle);
    if (timestamp === undefined) throw new ChainError('RPC_UNAVAILABLE', `The node does not have block ${middle}.`);
    if (timestamp <= seconds) early = middle;
    else late = middle;
  }
  return early;
}
