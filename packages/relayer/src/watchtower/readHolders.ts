import { parseCount } from '@prism-gateway/node/rpc';
import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import type { ReadRpc } from '../chain/createChainRpc.ts';

/** How many transactions each holder has sent that are mined, and with those that wait; and who has some that wait. */
export interface Holders {
  readonly mined: ReadonlyMap<Hex, number>;
  readonly sent: ReadonlyMap<Hex, number>;
  readonly busy: ReadonlySet<Hex>;
}

async function countSent(rpc: ReadRpc, relayers: ReadonlySet<Hex>, tag: 'latest' | 'pending') {
  const counts = [...relayers].map(async (relayer) => {
    const count = await rpc.read(['eth_getTransactionCount', relayer, tag], (answer) => parseCount(answer, 'count'));
    return [relayer, count] as const;
  });
  return new Map(await Promise.all(counts));
}

/** Whether a node holds transactions of an account, those behind a missing nonce too, which no count shows. Not every node shows its pool. */
async function hasWaiting(rpc: ReadRpc, relayer: Hex): Promise<boolean> {
  try {
    return await rpc.read(['txpool_contentFrom', relayer], (answer) => {
      const { pending, queued } = Object(answer);
      return [pending, queued].some((part) => Object.keys(Object(part)).length > 0);
    });
  } catch (error) {
    if (error instanceof ChainError) return false;
    throw error;
  }
}

/**
 * Reads what relayers have sent. A transaction behind one that pays too little waits as well: its holder has done what it can.
 *
 * @throws ChainError if the node does not answer
 */
export async function readHolders(rpc: ReadRpc, relayers: ReadonlySet<Hex>): Promise<Holders> {
  const [mined, sent] = await Promise.all([countSent(rpc, relayers, 'latest'), countSent(rpc, relayers, 'pending')]);
  const isCounted = (relayer: Hex) => (sent.get(relayer) ?? 0) > (mined.get(relayer) ?? 0);
  const waiting = await Promise.all(
    [...relayers].map(async (relayer) => (isCounted(relayer) || (await hasWaiting(rpc, relayer)) ? [relayer] : [])),
  );
  return { mined, sent, busy: new Set(waiting.flat()) };
}
