import { forwarderAbi } from '@prism-gateway/contracts';
import type { SimulatedCall } from '@prism-gateway/node/rpc';
import type { ActionParams } from '@prism-gateway/protocol';
import type { Hex } from 'viem';
import { decodeFunctionResult } from 'viem/utils';
import type { BlockHead } from '../chain/chainReader.ts';
import type { SignedRecord } from '../lifecycle/states.ts';

const WHOLE_BPS = 10_000n;
const WEI_PER_ETH = 10n ** 18n;
const WHOLE_PERCENT = 100n;

/**
 * The fee that a request pays, before the split: of a multi-user batch, what those of its entries pay together that would be
 * written. The others pay nothing, and anyone may queue them.
 */
export function sumFees(record: SignedRecord, returned: Hex): bigint {
  if (record.action !== 'BATCH_MULTI_USER_WRITE_DATA') return BigInt(record.params.relayerFee);
  // Action and params go together in a record.
  const { requests } = record.params as ActionParams<'BATCH_MULTI_USER_WRITE_DATA'>;
  const results = readBatchResults(returned, requests.length);
  return requests.reduce((sum, { relayerFee }, i) => (results[i]?.success ? sum + BigInt(relayerFee) : sum), 0n);
}

/**
 * Values a fee in ether, as this relayer gets it.
 *
 * @param fee.credits - `relayerFee`, in base units (18 decimals)
 * @param fee.shareBps - what the relayer gets of it, in basis points
 * @param fee.creditsPerEth - rate in 18-decimal fixed point
 * @returns wei, rounded down
 */
export function feeInWei(fee: {
  readonly credits: bigint;
  readonly shareBps: bigint;
  readonly creditsPerEth: bigint;
}): bigint {
  const share = (fee.credits * fee.shareBps) / WHOLE_BPS;
  return (share * WEI_PER_ETH) / fee.creditsPerEth;
}

/**
 * Whether a fee pays for gas, with a margin.
 *
 * @param deal.marginPercent - by how much the fee must exceed the expected price
 * @see docs/specification.md RELAY-2
 */
export function coversGas(deal: {
  readonly feeWei: bigint;
  readonly gas: bigint;
  /** In wei. */
  readonly gasPrice: bigint;
  /** The chain's charge beside the gas, in wei. */
  readonly extraWei: bigint;
  readonly marginPercent: number;
}): boolean {
  const { feeWei, gas, gasPrice, extraWei, marginPercent } = deal;
  return (gas * gasPrice + extraWei) * (WHOLE_PERCENT + BigInt(marginPercent)) <= feeWei * WHOLE_PERCENT;
}

/**
 * Finds the highest price of gas that a fee pays for, with a margin.
 *
 * @param deal.extraWei - what the chain charges beside the gas, in wei
 * @returns wei for a unit of gas, rounded down; 0 if the fee does not even pay for what comes beside the gas
 */
export function highestPrice(deal: {
  readonly feeWei: bigint;
  readonly gas: bigint;
  readonly extraWei: bigint;
  readonly marginPercent: number;
}): bigint {
  const { feeWei, gas, extraWei, marginPercent } = deal;
  const withMargin = WHOLE_PERCENT + BigInt(marginPercent);
  const left = feeWei * WHOLE_PERCENT - extraWei * withMargin;
  return left > 0n ? left / (gas * withMargin) : 0n;
}

/** The result of one entry of a multi-user batch. */
interface EntryResult {
  readonly success: boolean;
  /** The ABI-encoded custom error; empty if it was written. */
  readonly reason: Hex;
}

/**
 * Reads what a simulated multi-user batch returned.
 *
 * @param returned - of `batchMultiUserWriteData`: the entries that were refused
 * @returns one an entry, in their order
 */
export function readBatchResults(returned: Hex, count: number): readonly EntryResult[] {
  const refused = decodeFunctionResult({
    abi: forwarderAbi,
    functionName: 'batchMultiUserWriteData',
    data: returned,
  });
  const reasons = new Map(refused.map(({ index, reason }) => [Number(index), reason]));
  return Array.from({ length: count }, (_, index) => {
    const reason = reasons.get(index);
    return reason === undefined ? { success: true, reason: '0x' } : { success: false, reason };
  });
}

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
 * With what gas limit and fees a transaction is sent, so that the very transaction can be simulated.
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
  // The sender's first offer.
  const maxFeePerGas = lower(2n * head.baseFeePerGas + head.tip, ceiling);
  return {
    gasLimit: lower((gas * (100n + GAS_MARGIN_PERCENT)) / 100n + GAS_MARGIN, mostGas(head)),
    maxFeePerGas,
    maxPriorityFeePerGas: lower(head.tip, maxFeePerGas),
  };
}
