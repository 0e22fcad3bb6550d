import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Payment } from '../journal/payment.ts';
import { OPEN_STATES } from '../journal/paymentState.ts';

const COLUMNS = [
  'payment',
  'state',
  'stablecoin',
  'credits owed',
  'tries',
  'since (UTC)',
  'transaction, reason',
] as const;

function describe(payment: Payment): readonly string[] {
  return [
    payment.paymentIntentId,
    payment.state,
    `${payment.stablecoinAmount}`,
    `${payment.creditsOwed ?? ''}`,
    `${payment.attempts}`,
    new Date(payment.updatedAtMs).toISOString().slice(0, 19),
    [payment.txHash, payment.reason].filter((part) => part !== undefined).join(' '),
  ];
}

/**
 * Writes what is under way, and what waits for a person.
 *
 * @param journal - of an instance
 * @returns lines of text; a count of all states at the end
 */
export function formatStatus(journal: PaymentJournal): string {
  const payments = journal.list([...OPEN_STATES, 'given back', 'held', 'refused']);
  const rows = [COLUMNS, ...payments.map(describe)];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const counts = [...journal.countStates()].map(([state, count]) => `${count} ${state}`);
  return [
    ...(payments.length === 0 ? ['Nothing is under way.'] : lines),
    '',
    counts.join(', ') || 'No payments yet.',
  ].join('\n');
}
