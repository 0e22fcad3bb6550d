import type { Alert, Alerter } from '@prism-gateway/alerts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';

/**
 * Tells people of a single payment, who are told once more when it is over; to be called in the commit of the move.
 *
 * @param context - journal and alerts
 * @param told - which payment, and the alert
 * @see tellRecoveries
 */
export function tellPayment(
  { journal, alerter }: { readonly journal: PaymentJournal; readonly alerter: Alerter },
  { paymentIntentId, alert }: { readonly paymentIntentId: string; readonly alert: Alert },
): void {
  journal.commit(() => {
    journal.told.add(paymentIntentId);
    alerter.raise(alert);
  });
}
