/** Signs that a terminal would act upon, and signs that turn the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unsafe = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Makes text from strangers fit for a terminal. */
export const plain = (value: unknown): string => String(value ?? '').replaceAll(unsafe, '?');

/**
 * Writes rows as columns.
 *
 * @param rows - the first one holds the headings
 */
export function writeTable(rows: readonly (readonly unknown[])[]): string {
  const texts = rows.map((row) => row.map(plain));
  const widths = (texts[0] ?? []).map((_, column) => Math.max(...texts.map((row) => (row[column] ?? '').length)));
  return texts
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
