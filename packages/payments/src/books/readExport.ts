import { parseUnits } from 'viem';

/** A card processor's export that cannot be compared: nobody could say what a row of it means. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
  readonly code = 'EXPORT_UNREADABLE';
}

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

interface CsvRow {
  /** On which it begins. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Names that processors give to the columns, their letters alone. */
const ID_COLUMNS = ['paymentintentid', 'paymentintent', 'id'];
const AMOUNT_COLUMNS = ['amount', 'stablecoinamount', 'gross'];
const SEPARATORS = [',', ';', '\t'] as const;
const DECIMALS = 6;
/** Like `1400.00` or `1,400.00`: a comma before two digits could mean anything. */
const AMOUNT = /^(\d+|\d{1,3}(,\d{3})+)(\.\d{1,6})?$/;

/** @returns rows that are not empty @throws ExportError if a cell is not quoted as it should be */
function readRows(text: string): readonly CsvRow[] {
  const [head = ''] = text.trimStart().split(/[\r\n]/, 1);
  const count = (separator: string) => head.split(separator).length;
  const separator = SEPARATORS.toSorted((one, other) => count(other) - count(one))[0] ?? ',';
  const cell = new RegExp(` *(?:"((?:[^"]|"")*)" *|([^"${separator}\r\n]*))(${separator}|\r\n|[\r\n]|$)`, 'y');
  const rows: CsvRow[] = [];
  let cells: string[] = [];
  let [line, begin] = [1, 1];
  while (cell.lastIndex < text.length || cells.length > 0) {
    const match = cell.exec(text);
    if (match === null) throw new ExportError(`Line ${line} has a quote mark that is out of place, or never closed.`);
    const [all, quoted, bare = '', end] = match;
    cells.push((quoted?.replaceAll('""', '"') ?? bare).trim());
    line += all.match(/\r\n|\r|\n/g)?.length ?? 0;
    if (end === separator) continue;
    if (cells.some((one) => one !== '')) rows.push({ line: begin, cells });
    [cells, begin] = [[], line];
  }
  return rows;
}

/** @throws ExportError if there is none, or more than one */
function findColumn(head: readonly string[], names: readonly string[]): number {
  const letters = head.map((name) => name.toLowerCase().replaceAll(/[^a-z]/g, ''));
  const name = names.find((known) => letters.includes(known));
  if (name === undefined) throw new ExportError(`The export has no column ${names.join(' or ')}.`);
  const place = letters.indexOf(name);
  if (place !== letters.lastIndexOf(name)) throw new ExportError(`The export has the column ${head[place]} twice.`);
  return place;
}

/** @throws ExportError for what is no text in UTF-8 */
function decode(bytes: Uint8Array): string {
  try {
    // Takes a byte order mark away.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // UTF-16 has one in every letter that UTF-8 knows as well.
    if (!text.includes('\0')) return text;
  } catch {
    // Said below.
  }
  throw new ExportError('The export is not written in UTF-8; save it as CSV in UTF-8.');
}

/**
 * Reads a card processor's export: cells parted by commas, semicolons or tabs; amounts like `1400.00` or `1,400.00`.
 *
 * @param bytes - of a file in CSV, UTF-8
 * @throws ExportError `EXPORT_UNREADABLE`, with a sentence that says what is wrong and on which line
 * @see RFC 4180
 */
export function readExport(bytes: Uint8Array): readonly ProcessorRow[] {
  const [head, ...rows] = readRows(decode(bytes));
  if (head === undefined || rows.length === 0) throw new ExportError('The export has no rows.');
  const [id, amount] = [findColumn(head.cells, ID_COLUMNS), findColumn(head.cells, AMOUNT_COLUMNS)];
  return rows.map(({ line, cells }) => {
    if (cells.length !== head.cells.length)
      throw new ExportError(`Line ${line} has ${cells.length} cells, and the head has ${head.cells.length}.`);
    const text = cells[amount] ?? '';
    const units = AMOUNT.test(text) ? { amount: parseUnits(text.replaceAll(',', ''), DECIMALS) } : {};
    return { line, paymentIntentId: cells[id] ?? '', text, ...units };
  });
}
