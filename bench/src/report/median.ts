/**
 * Finds the middle of some figures.
 *
 * @param values at least one
 * @returns the middle one, or the mean of the two in the middle
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  // Both are indexes of a list that is not empty.
  return (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2;
}
