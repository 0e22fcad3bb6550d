import type { Alerter } from '@prism-gateway/alerts';
import { tellPayment } from '../alerts/tellPayment.ts';
import { markPayout } from '../chain/marks.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Payment } from '../journal/payment.ts';
import { LIMIT_REASON } from './admitPayment.ts';
import { FRESH_POLLS, findPayout, takePayout } from './findPayout.ts';
import type { RelayerContext } from './relayerContext.ts';

/**
 * Holds every payment whose payout may be on its way, because the sender's journal, which knew, is gone.
 *
 * @param context - journal and alerts
 */
export function holdUnknown(context: { readonly journal: PaymentJournal; readonly alerter: Alerter }): void {
  for (const { paymentIntentId } of context.journal.list(['buying', 'transferring'])) {
    const reason = "The sender's journal is gone; whether its transaction was broadcast is not known.";
    context.journal.commit(() => {
      context.journal.move(paymentIntentId, 'held', { reason });
      tellPayment(context, {
        paymentIntentId,
        alert: {
          code: 'OUTCOME_UNKNOWN',
          severity: 'critical',
          subject: `Payment ${paymentIntentId} is held: its outcome is not known`,
          text: `${reason} It is never paid again by itself. Should its payout be found on the chain, it goes on.`,
        },
      });
    });
  }
}

/** Whether a payout of it was seen in passing. */
function isMarked({ journal }: RelayerContext, { paymentIntentId }: Payment): boolean {
  return journal.marks.find(markPayout(paymentIntentId)).some(({ kind }) => kind === 'payout');
}

/** It is held for another reason than its payout. */
function isOnChain({ journal }: RelayerContext, { txHash }: Payment): boolean {
  if (txHash === undefined || journal.marks.amountOf(txHash) === undefined) return false;
  return journal.marks.blockOf(txHash) !== undefined;
}

/**
 * Looks at what is held because nobody knew whether it was paid: the chain may know by now. One over a limit is searched for once the
 * frontend lists it no more, for another instance may pay more; nobody waits for that.
 *
 * @param context - the instance
 * @param listed - ids of the payments that the frontend lists
 * @throws NodeBehindError; viem's errors
 */
export async function lookAtHeld(context: RelayerContext, listed: ReadonlySet<string>): Promise<void> {
  const held = context.journal.list(['held']).filter((payment) => !isOnChain(context, payment));
  const isOverLimit = ({ reason }: Payment) => reason?.startsWith(LIMIT_REASON) === true;
  if (held.some((payment) => isOverLimit(payment) && !listed.has(payment.paymentIntentId)))
    await context.search.search({ notOlderMs: FRESH_POLLS * context.config.pollIntervalMs });
  for (const payment of held) {
    if (isOverLimit(payment) && !isMarked(context, payment)) continue;
    const payout = await findPayout(context, payment);
    // One that went elsewhere is why it is held.
    if (payout === undefined || payout.recipient?.toLowerCase() !== payment.walletAddress.toLowerCase()) continue;
    takePayout(context, { payment, payout });
  }
}
