/**
 * Writes a figure with as many digits as say something.
 *
 * @param value the figure
 * @returns `12,345`, `123`, `12.3` or `0.62`
 */
export function formatFigure(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value >= 10 ? 1 : 2);
}
