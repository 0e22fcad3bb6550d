/** A card processor's export that cannot be compared: nobody could say what a row of it means. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
  readonly code = 'EXPORT_UNREADABLE';
}

/** A row, and the line of the file on which it begins. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** The head, and rows of as many cells. */
export interface CsvTable {
  readonly head: readonly string[];
  readonly rows: readonly CsvRow[];
}

const SEPARATORS = [',', ';', '\t'] as const;

/** What parts the cells: what a first line `sep=;` names, or what the head has most of outside of quotes. */
function findSeparator(head: string): string {
  const bare = head.replaceAll(/"[^"]*"/g, '');
  const count = (separator: string) => bare.split(separator).length;
  return SEPARATORS.toSorted((one, other) => count(other) - count(one))[0] ?? ',';
}

/** Where the cell that begins with a quote mark ends: after its closing one. */
function findClosing(text: string, from: number): number | undefined {
  let at = text.indexOf('"', from + 1);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at < 0 ? undefined : at + 1;
}

/** Reads one cell; `rest` matches all up to a separator or a line break. @returns where it ends, at a separator, a line break or the end */
function readCell(
  text: string,
  { from, line, rest }: { readonly from: number; readonly line: number; readonly rest: RegExp },
): { readonly cell: string; readonly end: number } {
  rest.lastIndex = from;
  const bare = rest.exec(text)?.[0] ?? '';
  const begin = from + bare.length - bare.trimStart().length;
  if (text[begin] !== '"' || begin - from >= bare.length) {
    if (bare.includes('"')) throw new ExportError(`Line ${line} has a quote mark within a cell that is not quoted.`);
    return { cell: bare.trim(), end: from + bare.length };
  }
  const closing = findClosing(text, begin);
  if (closing === undefined) throw new ExportError(`The quote mark on line ${line} is never closed.`);
  rest.lastIndex = closing;
  const after = rest.exec(text)?.[0] ?? '';
  if (after.trim() !== '') throw new ExportError(`Line ${line} has text behind a closing quote mark.`);
  const cell = text.slice(begin + 1, closing - 1).replaceAll('""', '"');
  return { cell: cell.trim(), end: closing + after.length };
}

function readRecords(text: string, separator: string): readonly CsvRow[] {
  const records: CsvRow[] = [];
  const rest = new RegExp(`[^${separator}\r\n]*`, 'y');
  let at = 0;
  let line = 1;
  while (at < text.length) {
    const cells: string[] = [];
    const beginLine = line;
    for (;;) {
      const { cell, end } = readCell(text, { from: at, line, rest });
      cells.push(cell);
      line += text.slice(at, end).match(/\r\n|\r|\n/g)?.length ?? 0;
      at = end;
      if (text[at] !== separator) break;
      at++;
    }
    at += text.startsWith('\r\n', at) ? 2 : 1;
    line++;
    if (cells.some((cell) => cell !== '')) records.push({ line: beginLine, cells });
  }
  return records;
}

/** A row with as many cells as the head; empty ones beyond are what some programs write at the end of each line. */
function fitRow({ line, cells }: CsvRow, width: number): CsvRow {
  const isFit = cells.length >= width && cells.slice(width).every((cell) => cell === '');
  if (!isFit) throw new ExportError(`Line ${line} has ${cells.length} cells, and the head has ${width}.`);
  return { line, cells: cells.slice(0, width) };
}

/**
 * Reads CSV with a head: cells parted by commas, semicolons or tabs, lines ended as any system does, quoted cells with whatever in them.
 *
 * @param text - the file, without a byte order mark
 * @returns head and rows
 * @throws ExportError `EXPORT_UNREADABLE` that names the line, where a cell is not quoted as it should be or a row has not as many as the head
 * @see RFC 4180
 */
export function readCsv(text: string): CsvTable {
  const [named, separatorNamed] = /^sep=([,;\t])\r?\n/i.exec(text) ?? [''];
  // A named separator is blanked, so that lines keep their numbers.
  const body = '\n'.repeat(named === '' ? 0 : 1) + text.slice(named.length);
  const firstLine = body.trimStart().split(/[\r\n]/, 1)[0] ?? '';
  const [head, ...rows] = readRecords(body, separatorNamed ?? findSeparator(firstLine));
  if (head === undefined) return { head: [], rows: [] };
  const width = head.cells.findLastIndex((cell) => cell !== '') + 1;
  return { head: head.cells.slice(0, width), rows: rows.map((row) => fitRow(row, width)) };
}
