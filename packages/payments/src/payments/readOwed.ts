import type { Payment } from '../journal/payment.ts';

/**
 * Reads what a claimed payment is owed.
 *
 * @param payment - claimed
 * @returns credit base units
 * @throws TypeError where it was never claimed, which is a defect
 */
export function readOwed(payment: Payment): bigint {
  if (payment.creditsOwed === undefined) throw new TypeError(`payment ${payment.paymentIntentId} was never claimed`);
  return payment.creditsOwed;
}
