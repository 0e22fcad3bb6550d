import type { SimulatedCall } from '@prism-gateway/rpc';
import type { BlockHead } from '../chain/chainReader.ts';

/** Added to simulated gas: refunds come only at the end, and state may have changed since. What is not used is not paid. */
const GAS_MARGIN_PERCENT = 40n;
const GAS_MARGIN = 25_000n;
/** Most gas that a transaction may have on any chain. @see https://eips.ethereum.org/EIPS/eip-7825 */
const MAX_TRANSACTION_GAS = 16_777_216n;

/** The lower of two amounts. */
export function lower(one: bigint, other: bigint): bigint {
  if (one < other) return one;
  return other;
}

/** Most gas that a transaction may have on a chain. */
export function mostGas({ gasLimit }: Pick<BlockHead, 'gasLimit'>): bigint {
  return lower(gasLimit, MAX_TRANSACTION_GAS);
}

/**
 * Tells with what gas limit and fees a transaction is sent, so that the very transaction can be simulated.
 *
 * @param planned.gas - that it was simulated to use
 * @param planned.ceiling - the most that is ever offered for a unit of gas, in wei
 */
export function transactionTerms(planned: {
  readonly gas: bigint;
  readonly head: BlockHead;
  readonly ceiling: bigint;
}): NonNullable<SimulatedCall['terms']> {
  const { gas, head, ceiling } = planned;
  // What the sender offers at first.
  const maxFeePerGas = lower(2n * head.baseFeePerGas + head.tip, ceiling);
  return {
    gasLimit: lower((gas * (100n + GAS_MARGIN_PERCENT)) / 100n + GAS_MARGIN, mostGas(head)),
    maxFeePerGas,
    maxPriorityFeePerGas: lower(head.tip, maxFeePerGas),
  };
}
