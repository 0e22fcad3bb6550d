import { creditTokenAbi, exchangeAbi, payoutsAbi, stablecoinAbi } from '@prism-gateway/contracts';
import {
  type Address,
  concat,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  keccak256,
  maxUint256,
  size,
  slice,
  stringToBytes,
  toEventSelector,
} from 'viem';

/** First topic of a token's `Transfer`. */
export const TRANSFER_TOPIC = toEventSelector('Transfer(address,address,uint256)');
/** Bytes of a payout id. */
const MARK_BYTES = 32;
/** Bytes of a call of `transfer` without a payout id: selector and two words. */
const CALL_BYTES = 68;

/** A call to a contract. */
export interface ChainCall {
  readonly to: Address;
  readonly data: Hex;
}

/**
 * Computes the payout id of a payment; ABI decoding ignores what follows the arguments.
 *
 * @param paymentIntentId - the frontend's name for the payment
 * @see docs/specification.md PAY-9
 */
export function payoutIdOf(paymentIntentId: string): Hex {
  return keccak256(stringToBytes(paymentIntentId));
}

/** Computes the payout id as the contract `Payouts` keeps it: bound to the frontend, for two may give their payments the same ids. */
export function bindPayoutId(frontend: Hex, payoutId: Hex): Hex {
  return keccak256(concat([frontend, payoutId]));
}

/**
 * Reads the payout id of a call.
 *
 * @returns its last 32 bytes if it has exactly these beyond what `transfer` needs
 */
export function readPayoutId(data: Hex): Hex | undefined {
  return size(data) === CALL_BYTES + MARK_BYTES ? slice(data, CALL_BYTES) : undefined;
}

/**
 * Encodes the payout of a payment: a transfer whose calldata ends in the payout id, or a call of the contract `Payouts` that makes it once.
 *
 * @param payout - what is paid, to whom; `payouts` is the contract if there is one
 */
export function encodePayout(payout: {
  readonly creditToken: Address;
  readonly payouts?: Address | undefined;
  readonly paymentIntentId: string;
  readonly walletAddress: Address;
  readonly credits: bigint;
}): ChainCall {
  const { creditToken, payouts, walletAddress, credits } = payout;
  const payoutId = payoutIdOf(payout.paymentIntentId);
  if (payouts !== undefined) {
    const data = encodeFunctionData({ abi: payoutsAbi, functionName: 'pay', args: [payoutId, walletAddress, credits] });
    return { to: payouts, data };
  }
  const call = encodeFunctionData({ abi: creditTokenAbi, functionName: 'transfer', args: [walletAddress, credits] });
  return { to: creditToken, data: concat([call, payoutId]) };
}

/** Encodes a buy. */
export function encodeBuy(buy: {
  readonly exchange: Address;
  readonly stablecoinAmount: bigint;
  readonly minCredits: bigint;
}): ChainCall {
  const args = [buy.stablecoinAmount, buy.minCredits] as const;
  return { to: buy.exchange, data: encodeFunctionData({ abi: exchangeAbi, functionName: 'buy', args }) };
}

/**
 * Reads what a buy has agreed to.
 *
 * @returns base units: what is paid at most, and what must be given at least
 */
export function readBuy(data: Hex): { readonly stablecoins: bigint; readonly minCredits: bigint } {
  const { args } = decodeFunctionData({ abi: exchangeAbi, data });
  // `buy` takes two amounts.
  const [stablecoins, minCredits] = args as readonly [bigint, bigint];
  return { stablecoins, minCredits };
}

/** Encodes an approval; without an amount it has no limit. */
export function encodeApproval(approval: {
  readonly token: Address;
  readonly spender: Address;
  readonly amount?: bigint;
}): ChainCall {
  const { token, spender, amount = maxUint256 } = approval;
  const data = encodeFunctionData({ abi: stablecoinAbi, functionName: 'approve', args: [spender, amount] });
  return { to: token, data };
}
