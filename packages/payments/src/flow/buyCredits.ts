import { alertPayment } from '../alerts/alertPayment.ts';
import { computeMinCredits, computeTopUp, readOwed } from '../amounts/computeCredits.ts';
import { formatCredits, formatStablecoins } from '../amounts/formatAmount.ts';
import { type ChainCall, encodeBuy, readBuy } from '../chain/calls.ts';
import { readMined } from '../chain/readMined.ts';
import type { Attempt, MinedAttempt, Payment } from '../journal/payment.ts';
import { OWING_STATES } from '../journal/paymentState.ts';
import type { MoveChanges } from '../journal/paymentWrites.ts';
import type { Offer } from '../readiness/createExchange.ts';
import { BROKEN_FACT } from '../readiness/createReadiness.ts';
import { StepError } from '../StepError.ts';
import { findPayout, takePayout } from './findPayout.ts';
import type { PayerContext } from './payerContext.ts';
import { takeRefusal } from './refusePayment.ts';
import { findOpenAttempt, nextIntentId, sendAttempt } from './sendAttempt.ts';

/**
 * Counts the credits in hand that no other payment of this instance is owed. One that is held with a payout that may yet be mined counts as
 * owed. The balance is read before: what left it meanwhile is then subtracted once more, never once too few.
 */
function countFreeCredits({ config, journal }: PayerContext, payment: Payment, { held }: Pick<Offer, 'held'>): bigint {
  const owing = journal.list([...OWING_STATES, 'vanished', 'held']).filter(({ state, paymentIntentId, paidBy }) => {
    if (paymentIntentId === payment.paymentIntentId) return false;
    // Its bytes are broadcast again.
    if (state === 'vanished') return paidBy?.toLowerCase() === config.self.toLowerCase();
    return state !== 'held' || journal.attemptsOf(paymentIntentId).some((attempt) => attempt.state === 'open');
  });
  return owing.reduce((free, other) => free - (other.creditsOwed ?? 0n), held);
}

function journalBuy(context: PayerContext, payment: Payment, call: ChainCall): void {
  const intentId = nextIntentId(context, { payment, kind: 'buy', call });
  context.journal.move(payment.paymentIntentId, 'buying', { attempt: { intentId, kind: 'buy', ...call } });
}

/**
 * Computes what to buy at the price of now: all, or what a buy within the tolerance has left missing. Beyond the tolerance from the price of the
 * claim nothing is bought, so that a payment never costs much more than its amount.
 */
function planBuy({ config, memory }: PayerContext, payment: Payment, quoted: bigint) {
  const { stablecoinAmount, paymentIntentId } = payment;
  const owed = readOwed(payment);
  const least = computeMinCredits(owed, config.slippageBps);
  if (quoted < least)
    throw new StepError('BUY_FAILED', `Its amount buys ${quoted} credit base units, and must buy ${least} at least.`);
  const already = memory.bought.get(paymentIntentId);
  if (already === undefined || already >= owed)
    return { stablecoinAmount, minCredits: computeMinCredits(quoted > owed ? quoted : owed, config.slippageBps) };
  const missing = owed - already;
  return {
    stablecoinAmount: computeTopUp(missing, { stablecoinAmount, quoted }),
    minCredits: computeMinCredits(missing, config.slippageBps),
  };
}

function encodeNextBuy(context: PayerContext, payment: Payment, { quoted }: Offer): ChainCall {
  const { exchange } = context.config;
  return encodeBuy({ exchange, ...planBuy(context, payment, quoted) });
}

/**
 * Sets credits aside for a claimed payment: those in hand if they suffice, or a buy.
 *
 * @throws StepError, viem's errors
 * @see docs/specification.md PAY-3, PAY-4
 */
export async function fundPayment(context: PayerContext, payment: Payment): Promise<void> {
  const { journal, log } = context;
  const { paymentIntentId } = payment;
  const payout = await findPayout(context, payment);
  if (payout !== undefined) return takePayout(context, { payment, payout });
  await context.readiness.checkGasPrice();
  await context.readiness.checkContracts();
  await context.readiness.ensureApproval();
  await context.decide(async () => {
    const offer = await context.exchange.readOffer(payment.stablecoinAmount);
    const isCovered = countFreeCredits(context, payment, offer) >= readOwed(payment);
    const buy = isCovered ? undefined : encodeNextBuy(context, payment, offer);
    if (takeRefusal(context, payment)) return;
    context.readiness.checkExchange();
    if (buy !== undefined) return journalBuy(context, payment, buy);
    log.info({ paymentIntentId }, 'credits in hand suffice: no buy');
    journal.move(paymentIntentId, 'bought');
  });
}

/** Whether an Exchange took more than was agreed, or gave less: it sees to neither by itself, and has an approval without a limit. */
function isBroken({ data }: Attempt, { stablecoins, credits }: MinedAttempt): boolean {
  const agreed = readBuy(data);
  return stablecoins > agreed.stablecoins || credits < agreed.minCredits;
}

/** Stops all purchases: a next one would go the same way. */
function takeBroken(
  context: PayerContext,
  { paymentIntentId }: Payment,
  { attempt, finalized }: { readonly attempt: Attempt; readonly finalized: NonNullable<MoveChanges['finalized']> },
): void {
  const { journal, memory } = context;
  const { stablecoins, minCredits } = readBuy(attempt.data);
  const { mined } = finalized;
  const reason = `The Exchange took ${formatStablecoins(mined?.stablecoins ?? 0n)} stablecoins and gave ${formatCredits(mined?.credits ?? 0n)} credits in ${finalized.txHash}; agreed were ${formatStablecoins(stablecoins)}, and ${formatCredits(minCredits)} at least.`;
  memory.bought.delete(paymentIntentId);
  journal.commit(() => {
    journal.setFact(BROKEN_FACT, reason);
    journal.move(paymentIntentId, 'held', { reason, finalized });
    alertPayment(context, {
      paymentIntentId,
      alert: {
        code: 'EXCHANGE_BROKEN',
        severity: 'critical',
        subject: `Purchases are stopped, and payment ${paymentIntentId} is held: the Exchange broke its word`,
        text: `${reason} Nothing more is bought until a person resumes.`,
      },
    });
  });
}

/**
 * Waits for a buy.
 *
 * @throws StepError `BUY_FAILED` if nothing was bought; SenderError if that is not known
 */
export async function finalizeBuy(context: PayerContext, payment: Payment): Promise<void> {
  const { journal, memory, log } = context;
  const { paymentIntentId } = payment;
  const attempt = findOpenAttempt(context, payment);
  const outcome = await sendAttempt(context, { attempt, confirmations: 1, whenGasTooHigh: 'reject' });
  const { intentId } = attempt;
  if (outcome.kind === 'void') {
    journal.move(paymentIntentId, 'claimed', { reason: outcome.reason, finalized: { intentId, state: 'void' } });
    throw new StepError('BUY_FAILED', `The buy was not made. ${outcome.reason}`, outcome.error);
  }
  const { status, txHash, blockNumber } = outcome.sent;
  const mined = readMined(outcome.sent, context.config);
  context.search.saw(Number(blockNumber));
  if (status === 'reverted') {
    journal.move(paymentIntentId, 'claimed', {
      reason: 'reverted',
      finalized: { intentId, state: 'void', txHash, mined },
    });
    throw new StepError('BUY_FAILED', `The buy ${txHash} was reverted.`);
  }
  const finalized = { intentId, state: 'done', txHash, mined } as const;
  if (isBroken(attempt, mined)) return takeBroken(context, payment, { attempt, finalized });
  const total = (memory.bought.get(paymentIntentId) ?? 0n) + mined.credits;
  log.info({ paymentIntentId, txHash, credits: `${total}` }, 'bought');
  if (total >= readOwed(payment)) {
    journal.move(paymentIntentId, 'bought', { finalized });
    return;
  }
  memory.bought.set(paymentIntentId, total);
  journal.move(paymentIntentId, 'claimed', { reason: 'the buy gave less than is owed', finalized });
}
