import type { Hex } from 'viem';
import { payoutIdOf } from '../chain/calls.ts';
import type { MoveChanges } from '../journal/paymentWrites.ts';
import type { PayerContext } from './payerContext.ts';

/** Names the journal's fact that holds the frontend's name of a claim, by which it can be given up. */
export function claimFact(paymentIntentId: string): string {
  return `claim:${paymentIntentId}`;
}

/**
 * Begins the claim of a payment anew, if the frontend has named it: right before its payout goes out, when an instance that does not know this
 * one may have claimed it since.
 *
 * @returns false: that has
 * @throws FrontendError
 */
export async function renewClaim(
  { journal, frontend, signal }: Pick<PayerContext, 'journal' | 'frontend' | 'signal'>,
  payoutId: Hex,
): Promise<boolean> {
  const payment = journal.list(['transferring']).find((one) => payoutIdOf(one.paymentIntentId) === payoutId);
  // One that was paid already, and whose payout has vanished, nobody claims any more.
  if (payment === undefined || payment.txHash !== undefined) return true;
  const { paymentIntentId } = payment;
  const claimId = journal.fact(claimFact(paymentIntentId));
  return claimId === undefined || (await frontend.renew({ paymentIntentId, claimId }, signal)) !== 'taken';
}

/**
 * Leaves a payment to whoever claims it next. One that was paid already, and whose payout has vanished, the frontend lists no more: it
 * goes on being looked after here.
 *
 * @param paymentIntentId - nothing of this instance on the chain can still pay it
 * @param changes - why, and how its attempt ended
 */
export function giveBack(
  context: PayerContext,
  paymentIntentId: string,
  changes: Pick<MoveChanges, 'finalized'> & { readonly reason: string },
): void {
  const { journal, memory } = context;
  memory.bought.delete(paymentIntentId);
  if (journal.get(paymentIntentId)?.txHash !== undefined) journal.move(paymentIntentId, 'vanished', changes);
  else journal.move(paymentIntentId, 'given back', { ...changes, countedDay: null });
}

/**
 * Reports to the frontend that a payment which was given back is free, if it takes that; else its lease must end.
 *
 * @param paymentIntentId - nothing of this instance can still pay it
 */
export async function releaseClaim(context: PayerContext, paymentIntentId: string): Promise<void> {
  const { journal, frontend, log, signal } = context;
  const claimId = journal.fact(claimFact(paymentIntentId));
  if (claimId === undefined || journal.get(paymentIntentId)?.state !== 'given back') return;
  journal.clearFact(claimFact(paymentIntentId));
  try {
    const answer = await frontend.release({ paymentIntentId, claimId }, signal);
    log.info({ paymentIntentId, answer }, 'claim released');
  } catch (error) {
    // The lease ends all the same.
    log.info({ paymentIntentId, reason: error instanceof Error ? error.message : 'unknown' }, 'claim not released');
  }
}
