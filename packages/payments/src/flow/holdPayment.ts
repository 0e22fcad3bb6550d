import type { Alerter } from '@prism-gateway/alerts';
import { tellPayment } from '../alerts/tellPayment.ts';
import { markPayout } from '../chain/marks.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Payment } from '../journal/payment.ts';
import { LIMIT_REASON } from './admitPayment.ts';
import { findPayout, takePayout } from './findPayout.ts';
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
 * Looks at what is held because nobody knew whether it was paid: the chain may know by now.
 *
 * @param context - the instance
 * @throws viem's errors
 */
export async function lookAtHeld(context: RelayerContext): Promise<void> {
  for (const payment of context.journal.list(['held'])) {
    if (isOnChain(context, payment)) continue;
    // One over a limit is not searched for, but what is found beside others is taken in: another instance may pay more.
    if (payment.reason?.startsWith(LIMIT_REASON) && !isMarked(context, payment)) continue;
    const payout = await findPayout(context, payment);
    // One that went elsewhere is why it is held.
    if (payout === undefined || payout.recipient?.toLowerCase() !== payment.walletAddress.toLowerCase()) continue;
    takePayout(context, { payment, payout });
  }
}
