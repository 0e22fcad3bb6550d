import { ExportError } from './ExportError.ts';
import { parseAmounts } from './parseAmounts.ts';
import { readCsv } from './readCsv.ts';

/** A row of a card processor's export. */
export interface ProcessorRow {
  /** Of the file, from 1. */
  readonly line: number;
  /** Empty: the row names none. */
  readonly paymentIntentId: string;
  /** The amount as it stands in the file. */
  readonly text: string;
  /** Stablecoin base units (6 decimals); absent: the text is no amount. */
  readonly amount?: bigint;
}

/** Names that processors give to the columns, their letters alone. */
const ID_COLUMNS = ['paymentintentid', 'paymentintent', 'id'];
const AMOUNT_COLUMNS = ['amount', 'stablecoinamount', 'gross'];

/** @throws ExportError where there is none, or more than one */
function findColumn(head: readonly string[], wanted: { readonly names: readonly string[]; readonly what: string }) {
  const letters = head.map((name) => name.toLowerCase().replaceAll(/[^a-z]/g, ''));
  const name = wanted.names.find((known) => letters.includes(known));
  if (name === undefined)
    throw new ExportError(`The export has no column of ${wanted.what}: ${wanted.names.join(', ')}.`);
  if (letters.indexOf(name) !== letters.lastIndexOf(name))
    throw new ExportError(`The export has the column ${head[letters.indexOf(name)]} twice.`);
  return letters.indexOf(name);
}

/** @returns undefined for what is no text in UTF-8 */
function decode(bytes: Uint8Array): string | undefined {
  try {
    // Takes a byte order mark away.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // UTF-16 has one in every letter that UTF-8 knows as well.
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/**
 * Reads a card processor's export.
 *
 * @param bytes - of a file in CSV, UTF-8
 * @returns its rows
 * @throws ExportError `EXPORT_UNREADABLE`, with a sentence that says what is wrong and on which line
 * @see docs/payments.md, "The books"
 */
export function readExport(bytes: Uint8Array): readonly ProcessorRow[] {
  const text = decode(bytes);
  if (text === undefined) throw new ExportError('The export is not written in UTF-8; save it as CSV in UTF-8.');
  const { head, rows } = readCsv(text);
  if (rows.length === 0) throw new ExportError('The export has no rows.');
  const id = findColumn(head, { names: ID_COLUMNS, what: 'payment intents' });
  const amount = findColumn(head, { names: AMOUNT_COLUMNS, what: 'amounts' });
  const cells = rows.map(({ line, cells }) => ({ line, text: cells[amount] ?? '' }));
  const amounts = parseAmounts(cells);
  return cells.map(({ line, text: told }, place) => {
    const units = amounts[place];
    const paymentIntentId = rows[place]?.cells[id] ?? '';
    return { line, paymentIntentId, text: told, ...(units !== undefined && { amount: units }) };
  });
}
