import type { Alert, Alerter } from '@prism-gateway/node/alerts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';

/**
 * Alerts people to a single payment: one message a cause, and one more when it is over; to be called in the commit of the move.
 *
 * @see reportRecoveries
 */
export function alertPayment(
  { journal, alerter }: { readonly journal: PaymentJournal; readonly alerter: Alerter },
  { paymentIntentId, alert }: { readonly paymentIntentId: string; readonly alert: Alert },
): void {
  journal.commit(() => {
    if (journal.alerted.add(paymentIntentId, alert.code)) alerter.raise(alert);
  });
}
