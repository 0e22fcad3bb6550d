import { parseUnits } from 'viem';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { formatStablecoins } from '../payments/formatAmount.ts';
import type { Difference } from './difference.ts';

/** Rows of a card processor's export, by the names of its head in lower case. */
export type ProcessorRows = readonly Readonly<Record<string, string>>[];

/** Names that processors give to the columns. */
const ID_COLUMNS = ['paymentintentid', 'payment_intent_id', 'payment_intent', 'payment intent id', 'id'];
const AMOUNT_COLUMNS = ['amount', 'stablecoinamount', 'gross'];

function pick(row: Readonly<Record<string, string>>, names: readonly string[]): string {
  return names.map((name) => row[name]).find((value) => value !== undefined && value !== '') ?? '';
}

/**
 * Says what an export lacks to be compared.
 *
 * @param rows - of the export
 * @returns a sentence; undefined: it can be compared
 */
export function findExportFault(rows: ProcessorRows): string | undefined {
  const [row] = rows;
  if (row === undefined) return 'The export has no rows.';
  const lacks = (names: readonly string[]) => !names.some((name) => name in row);
  if (lacks(ID_COLUMNS)) return `The export has no column of payment intents: ${ID_COLUMNS.join(', ')}.`;
  return lacks(AMOUNT_COLUMNS) ? `The export has no column of amounts: ${AMOUNT_COLUMNS.join(', ')}.` : undefined;
}

function compareRow(journal: PaymentJournal, paymentIntentId: string, amounts: readonly string[]): string[] {
  const payment = journal.get(paymentIntentId);
  if (payment === undefined) return ['the processor has it, and the journal does not'];
  const faults = amounts.length > 1 ? [`the processor has it ${amounts.length} times`] : [];
  for (const text of amounts) {
    const amount = text.replaceAll(/(?<=\d),(?=\d{3})/g, '');
    if (!/^\d+(\.\d{1,6})?$/.test(amount) || parseUnits(amount, 6) !== payment.stablecoinAmount)
      faults.push(
        `the processor has ${text === '' ? 'no amount' : text}, and the journal ${formatStablecoins(payment.stablecoinAmount)}`,
      );
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
export function compareProcessor(journal: PaymentJournal, rows: ProcessorRows): readonly Difference[] {
  const amountsOf = Map.groupBy(rows, (row) => pick(row, ID_COLUMNS));
  const listed = [...amountsOf].flatMap(([paymentIntentId, found]) => {
    const amounts = found.map((row) => pick(row, AMOUNT_COLUMNS));
    return compareRow(journal, paymentIntentId, amounts).map((what) => ({ paymentIntentId, what }));
  });
  const missing = journal
    .list()
    .filter(({ paymentIntentId, txHash }) => txHash !== undefined && !amountsOf.has(paymentIntentId))
    .map(({ paymentIntentId }) => ({ paymentIntentId, what: 'it is paid, and the processor does not have it' }));
  return [...listed, ...missing];
}
