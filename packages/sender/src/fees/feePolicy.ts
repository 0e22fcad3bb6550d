/** What a transaction offers for a unit of gas, in wei. */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** What gas costs now, in wei. */
export interface Market {
  readonly baseFeePerGas: bigint;
  readonly tip: bigint;
}

function higher(one: bigint, other: bigint): bigint {
  if (one > other) return one;
  return other;
}

function lower(amount: bigint, bound: bigint | undefined): bigint {
  if (bound === undefined || amount < bound) return amount;
  return bound;
}

/**
 * Offers what gets a transaction mined now, with room for a base fee that doubles: six full blocks (EIP-1559 raises it by at most an eighth
 * a block).
 *
 * @param market - base fee and tip
 * @param ceiling - the most that may be offered, in wei
 * @returns the offer, or undefined where the ceiling is below what is needed in the next block
 */
export function offerFees(market: Market, ceiling: bigint | undefined): Fees | undefined {
  const needed = market.baseFeePerGas + market.tip;
  if (ceiling !== undefined && needed > ceiling) return undefined;
  const wanted = 2n * market.baseFeePerGas + market.tip;
  return { maxFeePerGas: lower(wanted, ceiling), maxPriorityFeePerGas: market.tip };
}

/** `amount` raised by a percentage, rounded up. */
function raise(amount: bigint, percent: number): bigint {
  return (amount * BigInt(100 + percent) + 99n) / 100n;
}

/**
 * Offers more than before for the same nonce: both fees raised by at least what nodes ask of a replacement, or to the market.
 *
 * @param before - the offer that was not enough
 * @param terms - the market, the percentage, and the ceiling in wei
 * @returns the offer, or undefined where it would be above the ceiling
 */
export function raiseFees(
  before: Fees,
  terms: { readonly market: Market; readonly percent: number; readonly ceiling: bigint | undefined },
): Fees | undefined {
  const { market, percent, ceiling } = terms;
  const least = raise(before.maxFeePerGas, percent);
  if (ceiling !== undefined && (least > ceiling || market.baseFeePerGas + market.tip > ceiling)) return undefined;
  const wanted = 2n * market.baseFeePerGas + market.tip;
  const maxFeePerGas = lower(higher(least, wanted), ceiling);
  const tip = higher(raise(before.maxPriorityFeePerGas, percent), market.tip);
  return { maxFeePerGas, maxPriorityFeePerGas: lower(tip, maxFeePerGas) };
}
