import type { Payment } from '../journal/payment.ts';

/** One stablecoin base unit (6 decimals) in credit base units (18 decimals) at a rate of 1. */
const SCALE = 10n ** (18n - 6n);
/** All of a price, in basis points. */
const WHOLE_BPS = 10_000n;

/**
 * Computes what a payment is owed.
 *
 * @param rate - credits for one stablecoin, when the payment is claimed
 * @see docs/specification.md PAY-2
 */
export function computeCreditsOwed(stablecoinAmount: bigint, rate: bigint): bigint {
  return stablecoinAmount * rate * SCALE;
}

/** Computes the least that a buy may give, rounded up, so that the tolerance is never exceeded. */
export function computeMinCredits(quoted: bigint, slippageBps: number): bigint {
  return (quoted * (WHOLE_BPS - BigInt(slippageBps)) + WHOLE_BPS - 1n) / WHOLE_BPS;
}

/**
 * Computes what must be paid for missing credits, rounded up.
 *
 * @param price - stablecoin base units, and the credit base units that they buy
 */
export function computeTopUp(
  missing: bigint,
  price: { readonly stablecoinAmount: bigint; readonly quoted: bigint },
): bigint {
  const { stablecoinAmount, quoted } = price;
  return (missing * stablecoinAmount + quoted - 1n) / quoted;
}

/**
 * Reads what a claimed payment is owed.
 *
 * @throws TypeError if it was never claimed, which is a defect
 */
export function readOwed(payment: Payment): bigint {
  if (payment.creditsOwed === undefined) throw new TypeError(`payment ${payment.paymentIntentId} was never claimed`);
  return payment.creditsOwed;
}
