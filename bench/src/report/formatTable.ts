/**
 * Lays out cells as a Markdown table whose source is readable as it stands.
 *
 * @param rows cells; the first row is the head, and all have as many cells
 * @returns the lines
 */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], pad: string) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, pad)).join(' | ')} |`;
  const rule = line(
    head.map(() => ''),
    '-',
  );
  const lines = rows.map((row) => line(row, ' '));
  return [...lines.slice(0, 1), rule, ...lines.slice(1)];
}
