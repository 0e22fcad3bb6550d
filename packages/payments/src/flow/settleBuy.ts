import { readMined } from '../chain/readMined.ts';
import type { Payment } from '../journal/payment.ts';
import { readOwed } from '../payments/readOwed.ts';
import type { RelayerContext } from './relayerContext.ts';
import { StepError } from './StepError.ts';
import { findOpenAttempt, sendAttempt } from './sendAttempt.ts';

/**
 * Waits for a buy, or for the announcement in its place.
 *
 * @param context - the instance
 * @param payment - `buying`
 * @throws StepError `BUY_FAILED` where nothing was bought; SenderError where that is not known
 */
export async function settleBuy(context: RelayerContext, payment: Payment): Promise<void> {
  const { journal, memory, log } = context;
  const { paymentIntentId } = payment;
  const attempt = findOpenAttempt(context, payment);
  const outcome = await sendAttempt(context, { attempt, confirmations: 1, whenGasTooHigh: 'reject' });
  const { intentId } = attempt;
  if (outcome.kind === 'void') {
    journal.move(paymentIntentId, 'claimed', { reason: outcome.reason, settled: { intentId, state: 'void' } });
    throw new StepError('BUY_FAILED', `The ${attempt.kind} was not made. ${outcome.reason}`, outcome.error);
  }
  const { status, txHash, blockNumber } = outcome.sent;
  const mined = readMined(outcome.sent, context.config);
  context.search.saw(Number(blockNumber));
  if (status === 'reverted') {
    journal.move(paymentIntentId, 'claimed', {
      reason: 'reverted',
      settled: { intentId, state: 'void', txHash, mined },
    });
    throw new StepError('BUY_FAILED', `The ${attempt.kind} ${txHash} was reverted.`);
  }
  const settled = { intentId, state: 'done', txHash, mined } as const;
  const total = (memory.bought.get(paymentIntentId) ?? 0n) + mined.credits;
  log.info({ paymentIntentId, txHash, credits: `${total}` }, attempt.kind === 'buy' ? 'bought' : 'announced');
  if (attempt.kind === 'announce' || total >= readOwed(payment)) {
    journal.move(paymentIntentId, 'bought', { settled });
    return;
  }
  memory.bought.set(paymentIntentId, total);
  journal.move(paymentIntentId, 'claimed', { reason: 'the buy gave less than is owed', settled });
}
