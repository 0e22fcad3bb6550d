import type { Hash } from 'viem';
import type { Payment } from '../journal/payment.ts';
import type { RelayerContext } from './relayerContext.ts';

/** Whether it is left alone so long as its payout is on the chain. One that is held for want of the payout's bytes is a person's. */
function isSettled({ journal }: RelayerContext, { state, txHash }: Payment): boolean {
  if (state === 'held') return txHash !== undefined && journal.broadcasts.nonceOf(txHash) !== undefined;
  return state === 'completed';
}

/** Forgets the bytes of what is mined for good: all up to the last such payout, but not those of a payout that has vanished. */
function forgetSettled({ journal }: RelayerContext, settled: ReadonlySet<Hash | undefined>): void {
  const kept = journal.broadcasts.list();
  const last = kept.findLast(({ txHash }) => settled.has(txHash))?.nonce;
  if (last === undefined) return;
  const unsettled = journal.listWatched().flatMap(({ txHash }) => {
    const nonce = txHash === undefined ? undefined : journal.broadcasts.nonceOf(txHash);
    return nonce === undefined ? [] : [nonce];
  });
  journal.broadcasts.forget(Math.min(last, ...unsettled.map((nonce) => nonce - 1)));
}

/**
 * Looks after payouts until no reorganisation can undo them, those of this instance and those of others that it has completed. A payment
 * whose payout is no longer on the chain is moved to `vanished`.
 *
 * @param context - the instance
 * @throws viem's errors
 * @see DESIGN.md, "The chain is the truth for money and nonces"
 */
export async function watchPayouts(context: RelayerContext): Promise<void> {
  const { journal, log, reorgDepth } = context;
  if (journal.listWatched().length === 0) return;
  const { headBlock } = await context.search.search();
  const settled = new Set<Hash | undefined>();
  for (const payment of journal.listWatched()) {
    const { paymentIntentId, txHash } = payment;
    const block = txHash === undefined ? undefined : journal.marks.blockOf(txHash);
    if (block !== undefined && headBlock - block >= reorgDepth) {
      journal.unwatch(paymentIntentId);
      settled.add(txHash);
    } else if (block === undefined && isSettled(context, payment)) {
      log.warn({ paymentIntentId, txHash }, 'the payout has vanished from the chain');
      journal.move(paymentIntentId, 'vanished', { reason: `its payout ${txHash} is no longer on the chain` });
    }
  }
  forgetSettled(context, settled);
}
