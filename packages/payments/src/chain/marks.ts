import { creditTokenAbi, exchangeAbi, stablecoinAbi } from '@prism-gateway/contracts';
import {
  type Address,
  concat,
  encodeFunctionData,
  type Hex,
  keccak256,
  maxUint256,
  size,
  slice,
  stringToBytes,
} from 'viem';

/** Bytes of a mark. */
const MARK_BYTES = 32;
/** Bytes of a call of `transfer` or `buy` without a mark: selector and two words. */
const CALL_BYTES = 68;

/** A call to a contract. */
export interface ChainCall {
  readonly to: Address;
  readonly data: Hex;
}

/**
 * Computes the mark of a payment's payout; ABI decoding ignores what follows the arguments.
 *
 * @param paymentIntentId - the frontend's name for the payment
 * @returns 32 bytes
 * @see docs/specification.md PAY-9
 */
export function markPayout(paymentIntentId: string): Hex {
  return keccak256(stringToBytes(paymentIntentId));
}

/**
 * Computes the mark by which an instance announces that it will pay; it is another one, so that no search takes it for a payout.
 *
 * @param paymentIntentId - the frontend's name for the payment
 * @returns 32 bytes
 */
export function markAnnouncement(paymentIntentId: string): Hex {
  return announcementOf(markPayout(paymentIntentId));
}

/**
 * Computes the mark of announcements from that of the payout.
 *
 * @param payoutMark - 32 bytes
 * @returns 32 bytes
 */
export function announcementOf(payoutMark: Hex): Hex {
  return keccak256(payoutMark);
}

/**
 * Reads the mark of a call.
 *
 * @param data - calldata
 * @returns its last 32 bytes where it has just so many more than `transfer` and `buy` need
 */
export function readMark(data: Hex): Hex | undefined {
  return size(data) === CALL_BYTES + MARK_BYTES ? slice(data, CALL_BYTES) : undefined;
}

/** Encodes the payout of a payment. */
export function encodePayout(payout: {
  readonly creditToken: Address;
  readonly paymentIntentId: string;
  readonly walletAddress: Address;
  readonly credits: bigint;
}): ChainCall {
  const call = encodeFunctionData({
    abi: creditTokenAbi,
    functionName: 'transfer',
    args: [payout.walletAddress, payout.credits],
  });
  return { to: payout.creditToken, data: concat([call, markPayout(payout.paymentIntentId)]) };
}

/** Encodes a buy, which announces the payment as well. */
export function encodeBuy(buy: {
  readonly exchange: Address;
  readonly paymentIntentId: string;
  readonly stablecoinAmount: bigint;
  readonly minCredits: bigint;
}): ChainCall {
  const call = encodeFunctionData({
    abi: exchangeAbi,
    functionName: 'buy',
    args: [buy.stablecoinAmount, buy.minCredits],
  });
  return { to: buy.exchange, data: concat([call, markAnnouncement(buy.paymentIntentId)]) };
}

/** Encodes an announcement where nothing is to be bought: a transfer of nothing to oneself. */
export function encodeAnnouncement(announcement: {
  readonly creditToken: Address;
  readonly paymentIntentId: string;
  readonly self: Address;
}): ChainCall {
  const call = encodeFunctionData({ abi: creditTokenAbi, functionName: 'transfer', args: [announcement.self, 0n] });
  return { to: announcement.creditToken, data: concat([call, markAnnouncement(announcement.paymentIntentId)]) };
}

/** Encodes the unlimited approval of the Exchange. */
export function encodeApproval(approval: { readonly stablecoin: Address; readonly exchange: Address }): ChainCall {
  const data = encodeFunctionData({
    abi: stablecoinAbi,
    functionName: 'approve',
    args: [approval.exchange, maxUint256],
  });
  return { to: approval.stablecoin, data };
}
