import { creditTokenAbi } from '@prism-gateway/contracts';
import { type Log, parseEventLogs } from 'viem';
import type { Payment } from '../journal/payment.ts';
import { readOwed } from '../payments/readOwed.ts';
import type { RelayerContext } from './relayerContext.ts';
import { StepError } from './StepError.ts';
import { findOpenAttempt, sendAttempt } from './sendAttempt.ts';

/** Credits that came to this instance in a transaction. */
function countReceived(context: RelayerContext, logs: readonly Log[]): bigint {
  const { creditToken, self } = context.config;
  const transfers = parseEventLogs({ abi: creditTokenAbi, eventName: 'Transfer', logs: [...logs] });
  return transfers
    .filter(({ address, args }) => isSame(address, creditToken) && isSame(args.to, self) && !isSame(args.from, self))
    .reduce((sum, { args }) => sum + args.value, 0n);
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

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
  const { status, txHash, logs } = outcome.sent;
  if (status === 'reverted') {
    journal.move(paymentIntentId, 'claimed', { reason: 'reverted', settled: { intentId, state: 'void', txHash } });
    throw new StepError('BUY_FAILED', `The ${attempt.kind} ${txHash} was reverted.`);
  }
  const settled = { intentId, state: 'done', txHash } as const;
  const total = (memory.bought.get(paymentIntentId) ?? 0n) + countReceived(context, logs);
  log.info({ paymentIntentId, txHash, credits: `${total}` }, attempt.kind === 'buy' ? 'bought' : 'announced');
  if (attempt.kind === 'announce' || total >= readOwed(payment)) {
    journal.move(paymentIntentId, 'bought', { settled });
    return;
  }
  memory.bought.set(paymentIntentId, total);
  journal.move(paymentIntentId, 'claimed', { reason: 'the buy gave less than is owed', settled });
}
