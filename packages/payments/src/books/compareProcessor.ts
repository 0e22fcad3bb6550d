import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { formatStablecoins } from '../payments/formatAmount.ts';
import type { Difference } from './difference.ts';
import type { ProcessorRow } from './readExport.ts';

function compareRows(journal: PaymentJournal, paymentIntentId: string, rows: readonly ProcessorRow[]): string[] {
  if (paymentIntentId === '') return rows.map(({ line }) => `line ${line} of the export names no payment intent`);
  const payment = journal.get(paymentIntentId);
  if (payment === undefined) return ['the processor has it, and the journal does not'];
  const faults = rows.length > 1 ? [`the processor has it ${rows.length} times`] : [];
  for (const { text, amount } of rows) {
    const told = text === '' ? 'no amount' : amount === undefined ? `${text}, which is no amount` : text;
    if (amount !== payment.stablecoinAmount)
      faults.push(`the processor has ${told}, and the journal ${formatStablecoins(payment.stablecoinAmount)}`);
  }
  // What went back to the card stays in the export.
  if (payment.txHash === undefined && payment.state !== 'closed')
    faults.push(`the processor has it, and it is not paid: it is ${payment.state}`);
  return faults;
}

/**
 * Compares the journal with a card processor's export.
 *
 * @param journal - of the instance
 * @param rows - of the export
 * @returns where they do not agree
 */
export function compareProcessor(journal: PaymentJournal, rows: readonly ProcessorRow[]): readonly Difference[] {
  const byIntent = Map.groupBy(rows, ({ paymentIntentId }) => paymentIntentId);
  const listed = [...byIntent].flatMap(([paymentIntentId, found]) =>
    compareRows(journal, paymentIntentId, found).map((what) => ({ paymentIntentId, what })),
  );
  const missing = journal
    .list()
    .filter(({ paymentIntentId, txHash }) => txHash !== undefined && !byIntent.has(paymentIntentId))
    .map(({ paymentIntentId }) => ({ paymentIntentId, what: 'it is paid, and the processor does not have it' }));
  return [...listed, ...missing];
}
