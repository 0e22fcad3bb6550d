/** A cell that a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function writeCell(value: unknown): string {
  const text = `${value ?? ''}`;
  const safe = FORMULA.test(text) ? `'${text}` : text;
  // With a semicolon, too, for spreadsheets that part cells there.
  return /[",;\n\r\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Writes rows as CSV, with a head.
 *
 * @returns lines of text; empty for no rows
 * @see RFC 4180
 */
export function writeCsv(rows: readonly object[]): string {
  const [first] = rows;
  if (first === undefined) return '';
  const lines = rows.map((row) => Object.values(row).map(writeCell).join(','));
  return [Object.keys(first).join(','), ...lines].join('\n');
}
