import { parseUnits } from 'viem';
import { ExportError, readCsv } from './readCsv.ts';

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

/** An amount as it stands in a file. */
interface AmountCell {
  readonly line: number;
  readonly text: string;
}

/** What stands before the cents: `1,400.00` or `1.400,00`. */
type DecimalMark = '.' | ',';

const DECIMALS = 6;
const FORMS: Readonly<Record<DecimalMark, RegExp>> = {
  '.': /^(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?$/,
  ',': /^(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?$/,
};

/** Without what groups digits in some countries, and is never a decimal mark. */
const clean = (text: string) => text.replaceAll(/(?<=\d)['’\u00a0\u202f ](?=\d{3}(?!\d))/g, '');

/** Which marks an amount can have been written with, to mean a number. */
function findMarks(text: string): readonly DecimalMark[] {
  // No group of thousands begins with a zero.
  const isSmall = /^0[.,]/.test(text);
  const marks = (['.', ','] as const).filter((mark) => FORMS[mark].test(text));
  return isSmall ? marks.filter((mark) => text[1] === mark) : marks;
}

function parseAmount(text: string, mark: DecimalMark): bigint | undefined {
  const [whole = '', fraction = ''] = text.split(mark);
  const exact = fraction.replace(/0+$/, '');
  if (exact.length > DECIMALS) return undefined;
  return parseUnits(`${whole.replaceAll(/[.,]/g, '')}.${exact.padEnd(1, '0')}`, DECIMALS);
}

/**
 * Reads the amounts of a file, which are all written alike. `1,400` may be a thousand and more or a little more than one: what the other
 * amounts of the file show decides, and if none does, nothing is guessed.
 *
 * @param cells - amounts of one column
 * @returns stablecoin base units (6 decimals), in the order of the cells; undefined for what is no such amount
 * @throws ExportError `EXPORT_UNREADABLE` that names the lines, where it cannot be known what an amount means
 */
function parseAmounts(cells: readonly AmountCell[]): readonly (bigint | undefined)[] {
  const cleaned = cells.map(({ line, text }) => ({ line, text: clean(text), marks: findMarks(clean(text)) }));
  const witness = (mark: DecimalMark) => cleaned.find(({ marks }) => marks.length === 1 && marks[0] === mark);
  const [point, comma] = [witness('.'), witness(',')];
  if (point !== undefined && comma !== undefined)
    throw new ExportError(
      `Amounts are written in two ways: ${point.text} on line ${point.line}, and ${comma.text} on line ${comma.line}.`,
    );
  const unclear = cleaned.find(({ text, marks }) => marks.length === 2 && /[.,]/.test(text));
  if (unclear !== undefined && point === undefined && comma === undefined)
    throw new ExportError(
      `It is not clear what ${unclear.text} on line ${unclear.line} means: write amounts with two decimals, like 1400.00.`,
    );
  const mark = comma === undefined ? '.' : ',';
  return cleaned.map(({ text, marks }) => (marks.includes(mark) ? parseAmount(text, mark) : undefined));
}
