import type { Hash } from 'viem';
import type { RelayerContext } from './relayerContext.ts';

/** Their payout may vanish, and nothing else is under way for them. */
const SETTLED = ['completed', 'held'];

/**
 * Looks after payouts until no reorganisation can undo them, those of this instance and those of others that it has completed.
 *
 * @param context - the instance
 * @returns payments whose payout is no longer on the chain; they are `vanished` now
 * @throws viem's errors
 * @see DESIGN.md, "The chain is the truth for money and nonces"
 */
export async function watchPayouts(context: RelayerContext): Promise<readonly string[]> {
  const { journal, log, reorgDepth } = context;
  if (journal.listWatched().length === 0) return [];
  const { headBlock } = await context.search.search();
  const settled = new Set<Hash | undefined>();
  const vanished: string[] = [];
  for (const { paymentIntentId, state, txHash } of journal.listWatched()) {
    const block = txHash === undefined ? undefined : journal.marks.blockOf(txHash);
    if (block !== undefined && headBlock - block >= reorgDepth) {
      journal.unwatch(paymentIntentId);
      settled.add(txHash);
    } else if (block === undefined && SETTLED.includes(state)) {
      log.warn({ paymentIntentId, txHash }, 'the payout has vanished from the chain');
      journal.move(paymentIntentId, 'vanished', { reason: `its payout ${txHash} is no longer on the chain` });
      vanished.push(paymentIntentId);
    }
  }
  const last = journal.broadcasts.list().findLast(({ txHash }) => settled.has(txHash));
  if (last !== undefined) journal.broadcasts.forget(last.nonce);
  return vanished;
}
