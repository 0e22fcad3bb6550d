import { createClient } from 'viem';
import type { RelayerContext } from './relayerContext.ts';

/**
 * Looks after payouts that are settled, until no reorganisation can undo them: one that has vanished is broadcast again, the same bytes
 * on the same account nonce, with all that comes before it. So it can never be made twice.
 *
 * @param context - the instance
 * @see DESIGN.md, "The chain is the truth for money and nonces"
 */
export async function repairReorganised(context: RelayerContext): Promise<void> {
  const { journal, client, config, fence, log } = context;
  const kept = journal.broadcasts.list();
  const settled = kept.filter(({ txHash }) => journal.findPaidBy(txHash) !== undefined);
  if (settled.length === 0) return;
  const { headBlock } = await context.search.search();
  const isFinal = (block: number | undefined) => block !== undefined && headBlock - block >= context.reorgDepth;
  const last = settled.findLast(({ txHash }) => isFinal(journal.marks.blockOf(txHash)));
  if (last !== undefined) journal.broadcasts.forget(last.nonce);
  const vanished = settled.filter(({ txHash }) => journal.marks.blockOf(txHash) === undefined);
  if (vanished.length === 0) return;
  const count = await client.getTransactionCount({ address: config.self, blockTag: 'latest' });
  const missing = kept.filter(({ nonce }) => nonce >= count);
  log.warn(
    { vanished: vanished.map(({ txHash }) => txHash), again: missing.length },
    'payouts vanished: broadcast again',
  );
  const node = createClient({ transport: fence.transport });
  for (const { raw, txHash } of missing) {
    // What the node has already, or has another version of, it refuses; the next look tells.
    await node.request({ method: 'eth_sendRawTransaction', params: [raw] }).catch((error: unknown) => {
      log.debug({ txHash, reason: error instanceof Error ? error.name : 'unknown' }, 'not taken');
    });
  }
}
