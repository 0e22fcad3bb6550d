import type { PaymentState } from '../journal/paymentState.ts';
import type { ListingFault } from '../payments/checkListing.ts';
import type { RelayerContext } from './relayerContext.ts';

/** From these a payment can still be refused; from the others its payout is under way or done, with the values of its claim. */
const REFUSABLE: readonly PaymentState[] = ['seen', 'given back', 'held'];

/**
 * Names the journal's fact that a payment is refused.
 *
 * @param paymentIntentId - the payment
 * @returns the fact's name
 */
export function refusedFact(paymentIntentId: string): string {
  return `refused:${paymentIntentId}`;
}

/**
 * Refuses a payment: it is never paid, and told once.
 *
 * @param context - journal, alerts, log
 * @param fault - which, and why; without an id, the reason alone is told once
 */
export function refusePayment(context: Pick<RelayerContext, 'journal' | 'alerter' | 'log'>, fault: ListingFault): void {
  const { paymentIntentId = '', reason } = fault;
  const name = refusedFact(paymentIntentId === '' ? reason : paymentIntentId);
  if (context.journal.fact(name) !== undefined) return;
  context.journal.setFact(name, reason);
  const known = context.journal.get(paymentIntentId);
  if (known !== undefined && REFUSABLE.includes(known.state))
    context.journal.move(paymentIntentId, 'refused', { reason });
  context.alerter.raise({
    code: 'PAYMENT_REFUSED',
    severity: 'critical',
    subject: `Payment ${paymentIntentId === '' ? 'without a usable id' : paymentIntentId} is refused`,
    text: `${reason} The frontend listed it so; it is never paid until someone has looked at it.`,
  });
}
