/** A column: its heading, and to which side its cells go. */
export interface Column {
  readonly heading: string;
  readonly align: 'left' | 'right';
}

/**
 * Writes a table as lines of text.
 *
 * @param columns - from left to right
 * @param rows - cells in the order of the columns
 */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = columns.map(({ heading }, index) =>
    Math.max(heading.length, ...rows.map((cells) => (cells[index] ?? '').length)),
  );
  const writeRow = (cells: readonly string[]) => {
    const padded = columns.map(({ align }, index) => {
      const [cell = '', width = 0] = [cells[index], widths[index]];
      return align === 'left' ? cell.padEnd(width) : cell.padStart(width);
    });
    return padded.join('  ').trimEnd();
  };
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [writeRow(columns.map(({ heading }) => heading)), rule, ...rows.map(writeRow)];
}
