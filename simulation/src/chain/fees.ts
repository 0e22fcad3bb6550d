import type { BlockRecord, SignedTransaction } from './records.ts';

/** How much of the gas limit leaves the base fee as it is, and how far it moves at most. @see https://eips.ethereum.org/EIPS/eip-1559 */
export const ELASTICITY = 2n;
const MAX_CHANGE = 8n;
/** Where an eighth is nothing, it falls no further. */
const LEAST_BASE_FEE = 7n;

/** The base fee of the block after one. */
export function computeNextBaseFee(parent: Pick<BlockRecord, 'baseFeePerGas' | 'gasUsed' | 'gasLimit'>): bigint {
  const { baseFeePerGas: fee, gasUsed } = parent;
  const target = parent.gasLimit / ELASTICITY;
  if (gasUsed === target) return fee;
  if (gasUsed > target) {
    const rise = (fee * (gasUsed - target)) / target / MAX_CHANGE;
    return fee + (rise > 0n ? rise : 1n);
  }
  const next = fee - (fee * (target - gasUsed)) / target / MAX_CHANGE;
  return next < LEAST_BASE_FEE && fee >= LEAST_BASE_FEE ? LEAST_BASE_FEE : next;
}

/** The sender's price of a unit of gas at a base fee. */
export function priceAt(
  { maxFeePerGas, maxPriorityFeePerGas }: Pick<SignedTransaction, 'maxFeePerGas' | 'maxPriorityFeePerGas'>,
  baseFeePerGas: bigint,
): bigint {
  const wanted = baseFeePerGas + maxPriorityFeePerGas;
  return wanted < maxFeePerGas ? wanted : maxFeePerGas;
}
