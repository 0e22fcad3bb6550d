import { alertPayment } from '../alerts/alertPayment.ts';
import { computeCreditsOwed } from '../amounts/computeCredits.ts';
import { formatStablecoins } from '../amounts/formatAmount.ts';
import type { ListedPayment } from '../frontend/checkListing.ts';
import type { Payment } from '../journal/payment.ts';
import type { Spent } from '../limits/createDayLimit.ts';
import { claimFact } from './giveBack.ts';
import type { PayerContext } from './payerContext.ts';
import { refuseChanged, refusedFact } from './refusePayment.ts';

/** Begins the reason of a payment that is held for being over a limit; such a one is looked at again at each listing. */
export const LIMIT_REASON = 'limit';

/** Names the journal's fact that a person has approved a payment over a limit. */
export function approvedFact(paymentIntentId: string): string {
  return `approved:${paymentIntentId}`;
}

/** A payment's part of the limits before its rate is known. */
function expectedSpent({ config }: PayerContext, stablecoins: bigint): Spent {
  return { stablecoins, credits: computeCreditsOwed(stablecoins, config.expectedRate) };
}

/** Why a payment is over a limit; undefined: it is not. */
function findLimit(context: PayerContext, { paymentIntentId, stablecoinAmount: amount }: Payment): string | undefined {
  if (context.journal.fact(approvedFact(paymentIntentId)) !== undefined) return undefined;
  const { maxPayment } = context.config;
  if (amount > maxPayment)
    return `${LIMIT_REASON}: it is over MAX_PAYMENT, ${formatStablecoins(maxPayment)} stablecoins`;
  const exceeded = context.dayLimit.findExceeded(expectedSpent(context, amount));
  if (exceeded === undefined) return undefined;
  return `${LIMIT_REASON}: with it, the day's payments are over ${exceeded}`;
}

function holdForLimit(context: PayerContext, payment: Payment, reason: string): void {
  if (payment.state === 'held') return;
  const { paymentIntentId, stablecoinAmount } = payment;
  const text = `It is of ${formatStablecoins(stablecoinAmount)} stablecoins. ${reason}. It is paid once the limit allows it, or a person approves it: prism payments release ${paymentIntentId}.`;
  const subject = `Payment ${paymentIntentId} is held: over a limit`;
  context.journal.commit(() => {
    context.journal.move(paymentIntentId, 'held', { reason });
    const alert = { code: 'PAYMENT_OVER_LIMIT', severity: 'warning', subject, text } as const;
    alertPayment(context, { paymentIntentId, alert });
  });
}

function isHeldForLimit({ state, reason }: Payment): boolean {
  return state === 'held' && reason?.startsWith(LIMIT_REASON) === true;
}

/** Finds the payment in the journal, or writes it down. @returns undefined if it is refused */
function takeListed(context: PayerContext, listed: ListedPayment): Payment | undefined {
  const { journal } = context;
  if (journal.fact(refusedFact(listed.paymentIntentId)) !== undefined) return undefined;
  if (refuseChanged(context, listed)) return undefined;
  return journal.get(listed.paymentIntentId) ?? journal.add(listed);
}

async function claim(context: PayerContext, payment: Payment): Promise<boolean> {
  const { frontend, journal, log, signal } = context;
  const { paymentIntentId, stablecoinAmount } = payment;
  const rate = await context.readiness.readRate();
  const { answer, claimId } = await frontend.claim(paymentIntentId, signal);
  if (answer !== 'claimed') {
    log.debug({ paymentIntentId, answer }, 'not claimed');
    return false;
  }
  const creditsOwed = computeCreditsOwed(stablecoinAmount, rate);
  if (claimId === undefined) journal.clearFact(claimFact(paymentIntentId));
  else journal.setFact(claimFact(paymentIntentId), claimId);
  journal.move(paymentIntentId, 'claimed', { creditsOwed, rate, countedDay: context.dayLimit.today() });
  log.info({ paymentIntentId, creditsOwed: `${creditsOwed}` }, 'claimed');
  return true;
}

/**
 * Decides what to do with a listed payment, and claims it if it is to be paid.
 *
 * @param listed - fit to be paid as far as its data goes
 * @returns whether it is now `claimed` by this instance
 * @throws FrontendError, viem's errors
 * @see docs/specification.md FRONT-2
 */
export async function admitPayment(context: PayerContext, listed: ListedPayment): Promise<boolean> {
  const { journal, frontend, log, signal } = context;
  const payment = takeListed(context, listed);
  if (payment === undefined) return false;
  const { paymentIntentId, stablecoinAmount, txHash } = payment;
  if (payment.state === 'completed' && txHash !== undefined) {
    log.warn({ paymentIntentId }, 'listed although it is completed: the frontend is notified again');
    await frontend.complete({ paymentIntentId, txHash }, signal);
    return false;
  }
  if (!['seen', 'given back'].includes(payment.state) && !isHeldForLimit(payment)) return false;
  const limit = findLimit(context, payment);
  if (limit !== undefined) {
    holdForLimit(context, payment, limit);
    return false;
  }
  if (payment.state === 'held') journal.move(paymentIntentId, 'seen');
  const free = context.dayLimit.reserve(expectedSpent(context, stablecoinAmount));
  try {
    return await claim(context, payment);
  } finally {
    free();
  }
}
