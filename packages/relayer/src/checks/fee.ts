import { forwarderAbi } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import type { Hex } from 'viem';
import { decodeFunctionResult } from 'viem/utils';
import type { RelayedRecord } from '../lifecycle/openRequest.ts';

const WHOLE_BPS = 10_000n;
const WEI_PER_ETH = 10n ** 18n;
const WHOLE_PERCENT = 100n;

/**
 * The fee that a request pays, before the split: of a multi-user batch, what those of its entries pay together that would be
 * written. The others pay nothing, and anyone may queue them.
 */
export function sumFees(record: Pick<RelayedRecord, 'action' | 'params'>, returned: Hex): bigint {
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
 * Tells whether a fee pays for gas, with a margin.
 *
 * @param deal.marginPercent - by how much the fee must exceed the expected price
 * @see docs/specification.md RELAY-2
 */
export function coversGas(deal: {
  readonly feeWei: bigint;
  readonly gas: bigint;
  /** In wei. */
  readonly gasPrice: bigint;
  /** What the chain charges beside the gas, in wei. */
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
 * @returns wei for a unit of gas, rounded down; 0 where the fee does not even pay for what comes beside the gas
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

/** What became of one entry of a multi-user batch. */
interface EntryResult {
  readonly success: boolean;
  /** The ABI-encoded custom error; empty where it was written. */
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
