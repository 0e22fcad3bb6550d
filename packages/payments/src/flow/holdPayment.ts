import type { Alerter } from '@prism-gateway/node/alerts';
import { alertPayment } from '../alerts/alertPayment.ts';
import { payoutIdOf } from '../chain/calls.ts';
import { isCounted } from '../chain/isCounted.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Payment } from '../journal/payment.ts';
import { FRESH_POLLS, findPayout, takePayout } from './findPayout.ts';
import type { PayerContext } from './payerContext.ts';

/** Holds every payment whose payout may be on its way, because the sender's journal, which knew, is gone. */
export function holdUnknown(context: { readonly journal: PaymentJournal; readonly alerter: Alerter }): void {
  for (const { paymentIntentId } of context.journal.list(['buying', 'transferring'])) {
    const reason = "The sender's journal is gone; whether its transaction was broadcast is not known.";
    context.journal.commit(() => {
      context.journal.move(paymentIntentId, 'held', { reason });
      alertPayment(context, {
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

/** It is held for another reason than its payout. */
function isOnChain({ journal }: PayerContext, { txHash }: Payment): boolean {
  return txHash !== undefined && journal.transfers.blockOf(txHash) !== undefined;
}

/**
 * Looks at what is held: whatever the reason, its payout may be on the chain by now, or be one that is in order. Nobody waits for that.
 *
 * @throws NodeBehindError; viem's errors
 */
export async function lookAtHeld(context: PayerContext): Promise<void> {
  const { journal, search, config } = context;
  const held = journal.list(['held']).filter((payment) => !isOnChain(context, payment));
  if (held.length === 0) return;
  await search.search({ notOlderMs: FRESH_POLLS * config.pollIntervalMs });
  for (const payment of held) {
    if (!journal.transfers.find(payoutIdOf(payment.paymentIntentId)).some((found) => isCounted(context, found)))
      continue;
    const payout = await findPayout(context, payment);
    // One that is not in order is why it is held.
    if (payout !== undefined && payout.fault === undefined) takePayout(context, { payment, payout });
  }
}
