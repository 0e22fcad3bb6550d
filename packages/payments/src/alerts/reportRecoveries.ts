import { formatStablecoins } from '../amounts/formatAmount.ts';
import { payoutIdOf } from '../chain/calls.ts';
import { FRESH_POLLS, PAYOUT_CONFIRMATIONS } from '../flow/findPayout.ts';
import type { PayerContext } from '../flow/payerContext.ts';
import type { Payment } from '../journal/payment.ts';

/** The code of the end, which asks for nothing. */
const OVER = 'PAYMENT_OVER';

/** Says how a payment ended that this instance has ended; undefined: it has not. */
function describeEnd({ state, txHash, paidBy }: Payment): string | undefined {
  if (state === 'completed') return `It is paid by ${txHash} of ${paidBy}, and the frontend knows.`;
  return state === 'closed' ? 'A person has closed it: it is never paid.' : undefined;
}

function reportEnd(
  { journal, alerter }: PayerContext,
  { paymentIntentId, stablecoinAmount }: Payment,
  end: string,
): void {
  journal.commit(() => {
    journal.alerted.forget(paymentIntentId);
    alerter.raise({
      code: OVER,
      severity: 'info',
      subject: `Payment ${paymentIntentId} is over`,
      text: `${end} It was of ${formatStablecoins(stablecoinAmount)} stablecoins.`,
    });
  });
}

/**
 * Reports payments that another instance has paid, deep enough: the frontend lists them no more, and this instance has nothing to do with
 * them.
 */
async function reportPaidByOthers(context: PayerContext, gone: readonly Payment[]): Promise<void> {
  if (gone.length === 0) return;
  const { headBlock } = await context.search.search({ notOlderMs: FRESH_POLLS * context.config.pollIntervalMs });
  for (const payment of gone) {
    const payout = context.journal.transfers
      .find(payoutIdOf(payment.paymentIntentId))
      .find(({ blockNumber, amount }) => amount > 0n && headBlock - blockNumber + 1 >= PAYOUT_CONFIRMATIONS);
    if (payout !== undefined)
      reportEnd(context, payment, `Another instance, ${payout.sender}, has paid it by ${payout.txHash}.`);
  }
}

/**
 * Reports the end of each payment that people were alerted to: once, whoever ended it.
 *
 * @throws NodeBehindError; viem's errors
 * @see docs/payments.md, "Alerts, and what to do"
 */
export async function reportRecoveries(context: PayerContext): Promise<void> {
  const ended = context.journal.alerted.listEnded();
  for (const payment of ended) {
    const end = describeEnd(payment);
    if (end !== undefined) reportEnd(context, payment, end);
  }
  await reportPaidByOthers(
    context,
    ended.filter((payment) => describeEnd(payment) === undefined),
  );
}
