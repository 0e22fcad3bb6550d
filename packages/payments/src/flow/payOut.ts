import { creditTokenAbi } from '@prism-gateway/contracts';
import { FINAL_STATES, INTENT_STATES, type Sent } from '@prism-gateway/sender';
import { parseEventLogs } from 'viem';
import { alertPayment } from '../alerts/alertPayment.ts';
import { readOwed } from '../amounts/computeCredits.ts';
import { encodePayout, payoutIdOf } from '../chain/calls.ts';
import { describeTransaction } from '../chain/describeTransaction.ts';
import { readMined } from '../chain/readMined.ts';
import type { Payment } from '../journal/payment.ts';
import { StepError } from '../StepError.ts';
import { findPayout, PAYOUT_CONFIRMATIONS, takePayout } from './findPayout.ts';
import { giveBack } from './giveBack.ts';
import type { PayerContext } from './payerContext.ts';
import { takeRefusal } from './refusePayment.ts';
import { findOpenAttempt, nextIntentId, sendAttempt } from './sendAttempt.ts';

/** States of a payout that may yet be mined. */
const LIVE_STATES = INTENT_STATES.filter((state) => !FINAL_STATES.includes(state));

/**
 * While the sender is still at a payout of it, there is no other one: a person may have released the payment too early, or the journal may have
 * been lost and the sender's not.
 */
function refuseSecondPayout({ sender, config }: PayerContext, { paymentIntentId }: Payment): void {
  const payoutId = payoutIdOf(paymentIntentId);
  const isLive = sender
    .list({ states: LIVE_STATES })
    .some(
      ({ call }) =>
        call && describeTransaction({ to: call.to, input: call.data }, config.creditToken)?.payoutId === payoutId,
    );
  if (isLive) throw new StepError('PAYOUT_FAILED', 'An earlier payout of it is still on its way.');
}

/**
 * Journals the payout of a payment whose credits are set aside, if it is not paid.
 *
 * @throws StepError `PAYOUT_FAILED`, `CHAIN_UNAVAILABLE`; NodeBehindError; viem's errors
 * @see docs/payments.md, "Why it cannot pay twice"
 */
export async function payOut(context: PayerContext, payment: Payment): Promise<void> {
  refuseSecondPayout(context, payment);
  const payout = await findPayout(context, payment);
  if (payout !== undefined) return takePayout(context, { payment, payout });
  if (takeRefusal(context, payment)) return;
  const { paymentIntentId, walletAddress } = payment;
  const { creditToken, payouts } = context.config;
  const call = encodePayout({ creditToken, payouts, paymentIntentId, walletAddress, credits: readOwed(payment) });
  const intentId = nextIntentId(context, { payment, kind: 'payout', call });
  context.journal.move(paymentIntentId, 'transferring', { attempt: { intentId, kind: 'payout', ...call } });
}

function hasPaid(context: PayerContext, payment: Payment, sent: Sent): boolean {
  const transfers = parseEventLogs({ abi: creditTokenAbi, eventName: 'Transfer', logs: [...sent.logs] });
  return transfers.some(
    ({ address, args }) =>
      address.toLowerCase() === context.config.creditToken.toLowerCase() &&
      args.to.toLowerCase() === payment.walletAddress.toLowerCase() &&
      args.value === readOwed(payment),
  );
}

/** Mined, and the credits are not where they belong. */
function takeStrange(context: PayerContext, payment: Payment, sent: Sent, intentId: string): void {
  const { journal } = context;
  const { paymentIntentId } = payment;
  const reason = `The payout ${sent.txHash} is mined, and its log does not say that the wallet got what it is owed.`;
  journal.commit(() => {
    journal.move(paymentIntentId, 'held', { reason, finalized: { intentId, state: 'done', txHash: sent.txHash } });
    alertPayment(context, {
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
 * @throws StepError `PAYOUT_FAILED` if nothing was paid; SenderError if that is not known
 */
export async function finalizePayout(context: PayerContext, payment: Payment): Promise<void> {
  const { journal, log, config } = context;
  const { paymentIntentId } = payment;
  const attempt = findOpenAttempt(context, payment);
  const { intentId } = attempt;
  const outcome = await sendAttempt(context, {
    attempt,
    confirmations: PAYOUT_CONFIRMATIONS,
    whenGasTooHigh: 'wait',
  });
  if (outcome.kind === 'void' && outcome.error.code === 'BROADCAST_FORBIDDEN') {
    const reason = 'it is paid by another transaction, or claimed by another instance';
    giveBack(context, paymentIntentId, { reason, finalized: { intentId, state: 'void' } });
    return;
  }
  if (outcome.kind === 'void') {
    context.readiness.recheckContracts();
    journal.move(paymentIntentId, 'claimed', { reason: outcome.reason, finalized: { intentId, state: 'void' } });
    throw new StepError('PAYOUT_FAILED', `The payout was not made. ${outcome.reason}`, outcome.error);
  }
  const { sent } = outcome;
  const { txHash } = sent;
  const mined = readMined(sent, config);
  context.search.saw(Number(sent.blockNumber));
  if (sent.status === 'reverted') {
    context.readiness.recheckContracts();
    journal.move(paymentIntentId, 'claimed', {
      reason: 'reverted',
      finalized: { intentId, state: 'void', txHash, mined },
    });
    throw new StepError('PAYOUT_FAILED', `The payout ${txHash} was reverted.`);
  }
  if (!hasPaid(context, payment, sent)) return takeStrange(context, payment, sent, intentId);
  journal.move(paymentIntentId, 'transferred', {
    txHash,
    paidBy: config.self,
    finalized: { intentId, state: 'done', txHash, mined },
  });
  log.info({ paymentIntentId, txHash }, 'paid out');
}
