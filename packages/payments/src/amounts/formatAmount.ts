import { formatUnits } from 'viem';

/**
 * Writes an amount as people read it: `1,400.00`.
 *
 * @param decimals - how many of its digits follow the point
 * @returns at least two digits after the point, and no more than it takes
 */
export function formatAmount(units: bigint, decimals: number): string {
  const [whole = '0', fraction = ''] = formatUnits(units, decimals).split('.');
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(2, '0')}`;
}

/** Writes stablecoin base units (6 decimals). */
export const formatStablecoins = (units: bigint): string => formatAmount(units, 6);

/** Writes credit base units (18 decimals). */
export const formatCredits = (units: bigint): string => formatAmount(units, 18);
