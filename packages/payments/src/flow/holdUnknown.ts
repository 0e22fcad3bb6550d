import type { Alerter } from '../alerts/createAlerter.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';

/**
 * Holds every payment whose payout may be on its way, because the sender's journal, which knew, is gone.
 *
 * @param context - journal and alerts
 */
export function holdUnknown(context: { readonly journal: PaymentJournal; readonly alerter: Alerter }): void {
  for (const { paymentIntentId } of context.journal.list(['buying', 'transferring'])) {
    const reason = "The sender's journal is gone; whether its transaction was broadcast is not known.";
    context.journal.move(paymentIntentId, 'held', { reason });
    context.alerter.raise({
      code: 'OUTCOME_UNKNOWN',
      severity: 'critical',
      subject: `Payment ${paymentIntentId} is held: its outcome is not known`,
      text: `${reason} It is never paid again by itself. Should its payout be found on the chain, it goes on.`,
    });
  }
}
