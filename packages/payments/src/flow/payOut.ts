import { setTimeout as pause } from 'node:timers/promises';
import { creditTokenAbi } from '@prism-gateway/contracts';
import { FINAL_STATES, type Sent } from '@prism-gateway/sender';
import { type Address, parseEventLogs } from 'viem';
import { tellPayment } from '../alerts/tellPayment.ts';
import { describeTransaction } from '../chain/describeTransaction.ts';
import { encodePayout, markAnnouncement, markPayout } from '../chain/marks.ts';
import { readMined } from '../chain/readMined.ts';
import type { Payment } from '../journal/payment.ts';
import { readOwed } from '../payments/readOwed.ts';
import { StepError } from '../StepError.ts';
import { findPayout, PAYOUT_CONFIRMATIONS, takePayout } from './findPayout.ts';
import { giveBack } from './giveBack.ts';
import { takeRefusal } from './refusePayment.ts';
import type { RelayerContext } from './relayerContext.ts';
import { findOpenAttempt, nextIntentId, sendAttempt } from './sendAttempt.ts';

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

/** A first transfer to a wallet costs more than another one, a third at most. */
const GAS_MARGIN = 2n;

function hasPaid(context: RelayerContext, payment: Payment, sent: Sent): boolean {
  const transfers = parseEventLogs({ abi: creditTokenAbi, eventName: 'Transfer', logs: [...sent.logs] });
  return transfers.some(
    ({ address, args }) =>
      address.toLowerCase() === context.config.creditToken.toLowerCase() &&
      args.to.toLowerCase() === payment.walletAddress.toLowerCase() &&
      args.value === readOwed(payment),
  );
}

/** Mined, and the credits are not where they belong. */
async function takeStrange(context: RelayerContext, payment: Payment, sent: Sent, intentId: string): Promise<void> {
  const { client, config, journal } = context;
  const { paymentIntentId } = payment;
  const { to } = await client.getTransaction({ hash: sent.txHash });
  if (to?.toLowerCase() === config.self.toLowerCase()) {
    // The fence had nothing sent in its place.
    const reason = 'another instance has taken it over';
    giveBack(context, paymentIntentId, { reason, settled: { intentId, state: 'void' } });
    return;
  }
  const reason = `The payout ${sent.txHash} is mined, and its log does not say that the wallet got what it is owed.`;
  journal.commit(() => {
    journal.move(paymentIntentId, 'held', { reason, settled: { intentId, state: 'done', txHash: sent.txHash } });
    tellPayment(context, {
      paymentIntentId,
      alert: {
        code: 'PAYOUT_UNKNOWN',
        severity: 'critical',
        subject: `Payment ${paymentIntentId} is held: its payout is mined, but does not show`,
        text: `${reason} Look at the transaction and at the credit token; nothing more is paid for it.`,
      },
    });
  });
}

/**
 * Waits for a payout.
 *
 * @param context - the instance
 * @param payment - `transferring`
 * @throws StepError `PAYOUT_FAILED` where nothing was paid; SenderError where that is not known
 */
export async function settlePayout(context: RelayerContext, payment: Payment): Promise<void> {
  const { journal, log, config, memory } = context;
  const { paymentIntentId } = payment;
  const attempt = findOpenAttempt(context, payment);
  const { intentId } = attempt;
  const outcome = await sendAttempt(context, {
    attempt,
    confirmations: PAYOUT_CONFIRMATIONS,
    whenGasTooHigh: 'wait',
    gasLimit: memory.payoutGasLimit,
  });
  if (outcome.kind === 'void') {
    memory.payoutGasLimit = undefined;
    journal.move(paymentIntentId, 'claimed', { reason: outcome.reason, settled: { intentId, state: 'void' } });
    throw new StepError('PAYOUT_FAILED', `The payout was not made. ${outcome.reason}`, outcome.error);
  }
  const { sent } = outcome;
  const { txHash } = sent;
  const mined = readMined(sent, config);
  context.search.saw(Number(sent.blockNumber));
  if (sent.status === 'reverted') {
    memory.payoutGasLimit = undefined;
    journal.move(paymentIntentId, 'claimed', {
      reason: 'reverted',
      settled: { intentId, state: 'void', txHash, mined },
    });
    throw new StepError('PAYOUT_FAILED', `The payout ${txHash} was reverted.`);
  }
  if (!hasPaid(context, payment, sent)) return await takeStrange(context, payment, sent, intentId);
  memory.payoutGasLimit = sent.gasUsed * GAS_MARGIN;
  journal.move(paymentIntentId, 'transferred', {
    txHash,
    paidBy: config.self,
    settled: { intentId, state: 'done', txHash, mined },
  });
  log.info({ paymentIntentId, txHash }, 'paid out');
}
