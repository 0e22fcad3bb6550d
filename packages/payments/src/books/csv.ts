/** A cell that a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function writeCell(value: unknown): string {
  const text = `${value ?? ''}`;
  const safe = FORMULA.test(text) ? `'${text}` : text;
  // With a semicolon, too, for spreadsheets that part cells there.
  return /[",;\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Writes rows as CSV, with a head.
 *
 * @param rows - all of the same fields
 * @returns lines of text; empty for no rows
 * @see RFC 4180
 */
export function writeCsv(rows: readonly object[]): string {
  const [first] = rows;
  if (first === undefined) return '';
  const lines = rows.map((row) => Object.values(row).map(writeCell).join(','));
  return [Object.keys(first).join(','), ...lines].join('\n');
}

function splitRecord(text: string): string[] {
  const cells = text.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...cells].map(([, quoted, bare = '']) => quoted?.replaceAll('""', '"') ?? bare.trim());
}

/**
 * Reads CSV with a head; cells hold no line breaks.
 *
 * @param text - the file
 * @returns a record a row, by the names of the head in lower case
 * @see RFC 4180
 */
export function readCsv(text: string): readonly Readonly<Record<string, string>>[] {
  const [head, ...rows] = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  if (head === undefined) return [];
  const names = splitRecord(head).map((name) => name.toLowerCase());
  return rows.map((row) => {
    const cells = splitRecord(row);
    return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
  });
}
