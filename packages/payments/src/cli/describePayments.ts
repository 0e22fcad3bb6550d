import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Payment } from '../journal/payment.ts';
import { formatAmount, formatCredits, formatStablecoins } from '../payments/formatAmount.ts';

const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** A payment in a line; amounts as people read them, times in UTC. */
export function describePayment(payment: Payment) {
  const { paymentIntentId, state, stablecoinAmount, creditsOwed, attempts, txHash, reason, seenAtMs, updatedAtMs } =
    payment;
  return {
    payment: paymentIntentId,
    state,
    stablecoins: formatStablecoins(stablecoinAmount),
    credits: creditsOwed === undefined ? '' : formatCredits(creditsOwed),
    tries: `${attempts}`,
    listed: timeOf(seenAtMs),
    since: timeOf(updatedAtMs),
    transaction: txHash ?? '',
    reason: reason ?? '',
  };
}

/**
 * Writes all that the journal knows of a payment.
 *
 * @param journal - of an instance
 * @param payment - of the journal
 * @returns the payment, its moves, its calls to the chain, and what people have decided
 */
export function describeHistory(journal: PaymentJournal, payment: Payment) {
  const { paymentIntentId, walletAddress } = payment;
  return {
    ...describePayment(payment),
    wallet: walletAddress,
    moves: journal
      .movesOf(paymentIntentId)
      .map(({ atMs, from, to, reason }) => ({ at: timeOf(atMs), from: from ?? '', to, reason: reason ?? '' })),
    calls: journal.attemptsOf(paymentIntentId).map(({ intentId, kind, state, txHash, mined }) => ({
      call: intentId,
      kind,
      state,
      transaction: txHash ?? '',
      gas: mined === undefined ? '' : formatAmount(mined.gasUsed * mined.gasPrice, 18),
    })),
    decisions: journal.decisionsOf(paymentIntentId).map(({ atMs, ...decision }) => ({ at: timeOf(atMs), ...decision })),
  };
}

/**
 * Writes rows as a table of text.
 *
 * @param rows - all of the same fields
 * @returns lines, the names of the fields first
 */
export function formatRows(rows: readonly Readonly<Record<string, string>>[]): string {
  const [first] = rows;
  if (first === undefined) return 'Nothing.';
  const names = Object.keys(first);
  const table = [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))];
  const widths = names.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
