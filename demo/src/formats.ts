import { formatUnits } from 'viem/utils';

/** Numbers as people read them. */
export const withCommas = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 });

/** Writes credits, to one digit after the point: `12,345.6`. @param amount - in base units */
export function formatCredits(amount: bigint): string {
  // Shown only: a float is exact enough.
  return withCommas.format(Number(formatUnits(amount, 18)));
}

/** Writes a time span in seconds: `4.2 s`. */
export function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
