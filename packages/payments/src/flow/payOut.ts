import { setTimeout as pause } from 'node:timers/promises';
import { FINAL_STATES } from '@prism-gateway/sender';
import type { Address } from 'viem';
import { describeTransaction } from '../chain/describeTransaction.ts';
import { encodePayout, markAnnouncement, markPayout } from '../chain/marks.ts';
import type { Payment } from '../journal/payment.ts';
import { readOwed } from '../payments/readOwed.ts';
import { findPayout, takePayout } from './findPayout.ts';
import { giveBack } from './giveBack.ts';
import { takeRefusal } from './refusePayment.ts';
import type { RelayerContext } from './relayerContext.ts';
import { StepError } from './StepError.ts';
import { nextIntentId } from './sendAttempt.ts';

/** Looks for transactions of another instance before it is said to be stuck. */
const MAX_QUIET_LOOKS = 600;

/** Waits until all that a node knows of another instance's transactions is mined. */
async function waitUntilMined(context: RelayerContext, other: Address): Promise<void> {
  const { client, config, signal } = context;
  const known = await client.getTransactionCount({ address: other, blockTag: 'pending' });
  for (let looks = 0; looks < MAX_QUIET_LOOKS; looks++) {
    if ((await client.getTransactionCount({ address: other, blockTag: 'latest' })) >= known) return;
    await pause(config.rpcPollIntervalMs, undefined, { signal });
  }
  throw new StepError('ANOTHER_PAYS', `Transactions of ${other} wait in the node, and one of them may be a payout.`);
}

/** Looks for a payout by another instance that waits to be mined, as far as the node shows what waits. */
async function refuseWaitingPayout(context: RelayerContext, payment: Payment): Promise<void> {
  const { client, config } = context;
  const { transactions } = await client.getBlock({ blockTag: 'pending', includeTransactions: true });
  const mark = markPayout(payment.paymentIntentId);
  const waiting = transactions.find(
    (transaction) =>
      config.others.some((other) => other.toLowerCase() === transaction.from.toLowerCase()) &&
      describeTransaction(transaction, config.creditToken).mark === mark,
  );
  if (waiting !== undefined) throw new StepError('ANOTHER_PAYS', `A payout by ${waiting.from} waits to be mined.`);
}

/** Other instances that have announced the payment. */
function listRivals(context: RelayerContext, payment: Payment): readonly Address[] {
  const announcements = context.journal.marks.find(markAnnouncement(payment.paymentIntentId));
  const senders = new Set(announcements.map(({ sender }) => sender));
  return [...senders].filter((sender) => sender.toLowerCase() !== context.config.self.toLowerCase());
}

/** Another instance announced first: it is given the time in which it may still broadcast, and what it has broadcast the time to be mined. */
async function takeOver(context: RelayerContext, payment: Payment): Promise<void> {
  const { config, log, signal } = context;
  const rivals = listRivals(context, payment);
  if (rivals.length === 0) return;
  log.warn({ paymentIntentId: payment.paymentIntentId, rivals }, 'another instance had begun this payment: waiting');
  await pause(config.takeoverWaitMs, undefined, { signal });
  for (const rival of rivals) await waitUntilMined(context, rival);
}

/**
 * Makes sure that no other instance pays a payment: this one's announcement is the last on the chain; of whoever announced before,
 * no payout is on the chain or known to wait; and whoever announces later waits in turn.
 *
 * @param context - the instance
 * @param payment - `bought`, announced
 * @returns whether it is this instance's to pay; if not, the payment has been moved
 * @throws StepError `ANOTHER_PAYS` where that cannot be known yet; viem's errors
 * @see docs/payments.md, "Two instances"
 */
async function settleOwnership(context: RelayerContext, payment: Payment): Promise<boolean> {
  const { config, log } = context;
  const { paymentIntentId } = payment;
  if (config.others.length > 0) {
    await context.search.search();
    // From now on the fence counts how long the announcement has stood.
    await context.fence.judge(paymentIntentId);
    await takeOver(context, payment);
    await refuseWaitingPayout(context, payment);
  }
  const payout = await findPayout(context, payment);
  if (payout !== undefined) {
    takePayout(context, { payment, payout });
    return false;
  }
  const verdict = await context.fence.judge(paymentIntentId);
  if (verdict === 'yes') return true;
  if (verdict === 'later')
    throw new StepError('ANOTHER_PAYS', 'The announcement is not on the chain, or has not stood long enough.');
  log.warn({ paymentIntentId }, 'another instance has taken the payment over');
  giveBack(context, paymentIntentId, { reason: 'another instance has taken it over' });
  return false;
}

/**
 * While the sender is still at a payout of it, there is no other one: a person may have released the payment too early, or the journal may have
 * been lost and the sender's not.
 */
function refuseSecondPayout(context: RelayerContext, { paymentIntentId }: Payment): void {
  const { journal, sender } = context;
  const payouts = journal.attemptsOf(paymentIntentId).filter(({ kind }) => kind === 'payout');
  const isLive = payouts.some(({ intentId }) => {
    const intent = sender.get(intentId);
    return intent !== undefined && !FINAL_STATES.includes(intent.state);
  });
  const mark = markPayout(paymentIntentId);
  const isUnknown = context.unknownPayouts.list().some((unknown) => unknown.mark === mark);
  if (isLive || isUnknown) throw new StepError('PAYOUT_FAILED', 'An earlier payout of it is still on its way.');
}

/**
 * Journals the payout of a payment whose credits are set aside, if it is this instance's to make.
 *
 * @param context - the instance
 * @param payment - `bought`
 * @throws StepError `ANOTHER_PAYS`; viem's errors
 */
export async function payOut(context: RelayerContext, payment: Payment): Promise<void> {
  refuseSecondPayout(context, payment);
  if (!(await settleOwnership(context, payment))) return;
  if (takeRefusal(context, payment)) return;
  const { paymentIntentId, walletAddress } = payment;
  const { creditToken, payouts } = context.config;
  const call = encodePayout({ creditToken, payouts, paymentIntentId, walletAddress, credits: readOwed(payment) });
  const intentId = nextIntentId(context, { payment, kind: 'payout', call });
  context.fence.renew(paymentIntentId);
  context.journal.move(paymentIntentId, 'transferring', { attempt: { intentId, kind: 'payout', ...call } });
}
