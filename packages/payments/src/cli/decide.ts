import { isAddress } from 'viem';
import * as z from 'zod/mini';
import { forgetResolvedKey } from '../chain/createKeyWatch.ts';
import { dismissedFact } from '../chain/isCounted.ts';
import { approvedFact, LIMIT_REASON } from '../flow/admitPayment.ts';
import { suspectFact } from '../flow/findPayout.ts';
import { releasedFact } from '../flow/recoverVanished.ts';
import { refusedFact } from '../flow/refusePayment.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { PAID_BY_HAND, Payment } from '../journal/payment.ts';
import { BROKEN_FACT } from '../readiness/createReadiness.ts';
import { UsageError } from './parseWords.ts';

/** A person's decision about a payment, and its author. */
export interface Decision {
  readonly paymentIntentId: string;
  readonly who: string;
  readonly why: string;
}

function mustGet(journal: PaymentJournal, paymentIntentId: string): Payment {
  const payment = journal.get(paymentIntentId);
  if (payment === undefined) throw new UsageError(`The journal has no payment ${paymentIntentId}.`);
  return payment;
}

function note(journal: PaymentJournal, act: string, { paymentIntentId, who, why }: Decision): string {
  journal.decide({ paymentIntentId, act, who, why });
  return `${act} by ${who}: ${why}`;
}

const suspectSchema = z.object({
  hashes: z.array(z.templateLiteral(['0x', z.string()])),
  contract: z.optional(z.string()),
});

/** A payout for which the payment is held is none, as a person says; one that the contract has made uses up its payout id whatever anybody says. */
function dismissSuspects(journal: PaymentJournal, paymentIntentId: string): void {
  const fact = journal.fact(suspectFact(paymentIntentId));
  if (fact === undefined) return;
  // Only `holdSuspect` writes it.
  const { hashes, contract } = suspectSchema.parse(JSON.parse(fact));
  if (contract !== undefined)
    throw new UsageError(
      `Payment ${paymentIntentId} is paid in the contract Payouts by ${hashes[0]}, which pays nothing more for it. Settle the difference by hand, then close it: --paid.`,
    );
  for (const hash of hashes) journal.setFact(dismissedFact(hash), paymentIntentId);
  journal.clearFact(suspectFact(paymentIntentId));
}

function releaseHeld(journal: PaymentJournal, payment: Payment, reason: string): string {
  const { paymentIntentId, txHash } = payment;
  dismissSuspects(journal, paymentIntentId);
  if (txHash !== undefined) {
    // It was paid once: the frontend lists it no more.
    journal.setFact(releasedFact(paymentIntentId), 'by a person');
    journal.move(paymentIntentId, 'vanished', { reason });
    return `Payment ${paymentIntentId} is tried again, should its payout not be on the chain.`;
  }
  if (payment.reason?.startsWith(LIMIT_REASON)) journal.setFact(approvedFact(paymentIntentId), reason);
  const open = journal.attemptsOf(paymentIntentId).find((attempt) => attempt.state === 'open');
  const finalized = open === undefined ? {} : { finalized: { intentId: open.intentId, state: 'void' as const } };
  journal.move(paymentIntentId, 'given back', { reason, countedDay: null, ...finalized });
  return `Payment ${paymentIntentId} is tried again once the frontend lists it.`;
}

/** Takes the values that the frontend lists now for the right ones: the payment is looked at as if for the first time. */
function acceptListed(journal: PaymentJournal, { paymentIntentId, txHash }: Payment): string {
  if (
    txHash !== undefined ||
    journal.attemptsOf(paymentIntentId).some(({ kind, state }) => kind === 'payout' && state !== 'void')
  )
    throw new UsageError(`Payment ${paymentIntentId} has a payout with the values of before; it cannot take others.`);
  journal.clearFact(refusedFact(paymentIntentId));
  journal.forget(paymentIntentId);
  return `Payment ${paymentIntentId} takes the values that the frontend lists next.`;
}

/**
 * Lets a payment that is held or refused be tried again.
 *
 * @param decision - which payment, in whose name, and whether the values that are listed now hold
 * @throws UsageError if there is nothing to release
 */
export function releasePayment(
  journal: PaymentJournal,
  decision: Decision & { readonly acceptsListed: boolean },
): string {
  const { paymentIntentId } = decision;
  return journal.commit(() => {
    const payment = journal.get(paymentIntentId);
    const isRefused = journal.fact(refusedFact(paymentIntentId)) !== undefined;
    const reason = note(journal, 'released', decision);
    journal.alerted.renew(paymentIntentId);
    // Of what was never fit to be paid, the values that are listed next are the only ones.
    const wasUnfit =
      payment?.state === 'refused' && (payment.stablecoinAmount === 0n || !isAddress(payment.walletAddress));
    if (payment !== undefined && (decision.acceptsListed || wasUnfit) && (isRefused || payment.state === 'refused'))
      return acceptListed(journal, payment);
    if (payment?.state === 'held') return releaseHeld(journal, payment, reason);
    if (!isRefused && payment?.state !== 'refused')
      throw new UsageError(
        `Payment ${paymentIntentId} is neither held nor refused: it is ${payment?.state ?? 'unknown'}.`,
      );
    journal.clearFact(refusedFact(paymentIntentId));
    if (payment?.state === 'refused') journal.move(paymentIntentId, 'seen', { reason });
    return `Payment ${paymentIntentId} is tried again once the frontend lists it.`;
  });
}

/**
 * Keeps a payment from being begun, until a person releases it.
 *
 * @throws UsageError if it is begun already
 */
export function holdPayment(journal: PaymentJournal, decision: Decision): string {
  const { paymentIntentId } = decision;
  return journal.commit(() => {
    const { state } = mustGet(journal, paymentIntentId);
    if (state !== 'seen' && state !== 'given back')
      throw new UsageError(`Payment ${paymentIntentId} is ${state}; only one that is not begun can be held.`);
    journal.move(paymentIntentId, 'held', { reason: note(journal, 'held', decision) });
    return `Payment ${paymentIntentId} is held until it is released.`;
  });
}

/** Why a payment is closed. */
export type Closing = 'refunded' | typeof PAID_BY_HAND;

/**
 * Closes a payment whose money went back to the card, or that was paid by other means: it is never paid.
 *
 * @param decision - which payment, in whose name, and why
 * @throws UsageError if it is under way or paid
 */
export function closePayment(journal: PaymentJournal, decision: Decision & { readonly closing: Closing }): string {
  const { paymentIntentId } = decision;
  return journal.commit(() => {
    const { state, txHash } = mustGet(journal, paymentIntentId);
    const isPaid = txHash !== undefined;
    if (isPaid || !['seen', 'given back', 'held', 'refused'].includes(state))
      throw new UsageError(
        `Payment ${paymentIntentId} is ${state}${isPaid ? ' and was paid' : ''}; it cannot be closed.`,
      );
    const open = journal
      .attemptsOf(paymentIntentId)
      .some((attempt) => attempt.kind === 'payout' && attempt.state === 'open');
    if (open)
      throw new UsageError(`A payout of ${paymentIntentId} may still be mined; release it first, once it cannot.`);
    journal.move(paymentIntentId, 'closed', { reason: note(journal, decision.closing, decision), countedDay: null });
    return `Payment ${paymentIntentId} is closed: it is never paid.`;
  });
}

/**
 * Has payments go on after the key was used elsewhere, the Exchange broke its word, or a restore: what the key has done is looked at anew.
 */
export function resumeKey(journal: PaymentJournal, decision: Omit<Decision, 'paymentIntentId'>): string {
  return journal.commit(() => {
    note(journal, 'resumed', { ...decision, paymentIntentId: '' });
    forgetResolvedKey(journal);
    journal.clearFact(BROKEN_FACT);
    return 'The chain is searched anew; payments go on once two looks at it agree.';
  });
}
