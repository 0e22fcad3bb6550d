import type { Alert } from '@prism-gateway/node/alerts';
import { alertPayment } from '../alerts/alertPayment.ts';
import type { ListedPayment, ListingFault } from '../frontend/checkListing.ts';
import type { Payment } from '../journal/payment.ts';
import type { PaymentState } from '../journal/paymentState.ts';
import type { PayerContext } from './payerContext.ts';

/** From these a payment is refused at once; from `claimed`, `buying` and `bought` by its next step. */
const REFUSABLE: readonly PaymentState[] = ['seen', 'given back', 'held'];
/** Its payout is under way or done, with the values of its claim. */
const TOO_LATE: readonly PaymentState[] = ['transferring', 'transferred', 'completed', 'vanished'];

/** Names the journal's fact that a payment is refused. */
export function refusedFact(paymentIntentId: string): string {
  return `refused:${paymentIntentId}`;
}

function writeAlert(known: Payment | undefined, { paymentIntentId = '', reason }: ListingFault): Alert {
  if (known !== undefined && TOO_LATE.includes(known.state)) {
    const { stablecoinAmount, walletAddress, state } = known;
    return {
      code: 'PAYMENT_REFUSED_LATE',
      severity: 'critical',
      subject: `Payment ${paymentIntentId} is listed otherwise than it is paid`,
      text: `${reason} It is ${state} already, with ${stablecoinAmount} stablecoin base units to ${walletAddress}. Nothing else is paid for it until someone has looked at it.`,
    };
  }
  return {
    code: 'PAYMENT_REFUSED',
    severity: 'warning',
    subject: `Payment ${paymentIntentId === '' ? 'without a usable id' : paymentIntentId} is refused`,
    text: `${reason} The frontend listed it so; it is never paid until someone has looked at it.`,
  };
}

/**
 * Refuses a payment: it is never paid, and alerted once. One whose payout is journalled is paid with the values of its claim, and alerted as well.
 *
 * @param fault - which, and why; without an id, the reason alone is alerted once
 */
export function refusePayment(context: Pick<PayerContext, 'journal' | 'alerter' | 'log'>, fault: ListingFault): void {
  const { journal, alerter } = context;
  const { paymentIntentId = '', reason } = fault;
  const name = refusedFact(paymentIntentId === '' ? reason : paymentIntentId);
  if (journal.fact(name) !== undefined) return;
  journal.commit(() => {
    journal.setFact(name, reason);
    const known = journal.get(paymentIntentId);
    if (known !== undefined && REFUSABLE.includes(known.state)) journal.move(paymentIntentId, 'refused', { reason });
    if (known === undefined && paymentIntentId !== '') {
      const { walletAddress = '', stablecoinAmount = 0n } = fault;
      journal.addRefused({ paymentIntentId, walletAddress, stablecoinAmount, reason });
    }
    const alert = writeAlert(known, fault);
    // Of one that is paid already, and of what has no name, no end is ever seen.
    if (alert.code === 'PAYMENT_REFUSED' && paymentIntentId !== '') alertPayment(context, { paymentIntentId, alert });
    else alerter.raise(alert);
  });
}

/**
 * Refuses a payment that is listed with other values than before.
 *
 * @param listed - fit to be paid as far as its data goes
 */
export function refuseChanged(
  context: Pick<PayerContext, 'journal' | 'alerter' | 'log'>,
  listed: ListedPayment,
): boolean {
  const { paymentIntentId } = listed;
  const known = context.journal.get(paymentIntentId);
  // A refused one may be listed as it likes: a person says what becomes of it.
  if (known === undefined || known.state === 'refused') return false;
  const { walletAddress, stablecoinAmount } = known;
  if (walletAddress === listed.walletAddress && stablecoinAmount === listed.stablecoinAmount) return false;
  refusePayment(context, {
    paymentIntentId,
    reason: `It was listed before with another wallet or amount: ${stablecoinAmount} stablecoin base units to ${walletAddress}.`,
  });
  return true;
}

/**
 * Takes in that a payment under way was refused meanwhile. To be asked in the same turn of the event loop in which its buy or payout is
 * journalled.
 *
 * @returns whether it is `refused` now; credits bought stay in hand
 */
export function takeRefusal(context: PayerContext, payment: Payment): boolean {
  const { journal, memory, log } = context;
  const { paymentIntentId, txHash } = payment;
  const reason = journal.fact(refusedFact(paymentIntentId));
  // One that was paid before, and whose payout has vanished, is made good with the values of its claim.
  if (reason === undefined || txHash !== undefined) return false;
  log.warn({ paymentIntentId, reason }, 'refused while it was under way');
  memory.bought.delete(paymentIntentId);
  journal.move(paymentIntentId, 'refused', { reason, countedDay: null });
  return true;
}
