import { creditTokenAbi, payoutsAbi } from '@prism-gateway/contracts';
import { type Address, decodeFunctionData, getAbiItem, type Hash, type Hex, toFunctionSelector } from 'viem';
import { readPayoutId } from './calls.ts';

const PAY = getAbiItem({ abi: payoutsAbi, name: 'pay' });
const TRANSFER = getAbiItem({ abi: creditTokenAbi, name: 'transfer' });
// viem hashes the name of each function of an ABI at each call: most of the time that a search of the chain took.
const PAY_SELECTOR = toFunctionSelector(PAY);
const TRANSFER_SELECTOR = toFunctionSelector(TRANSFER);

/** A transaction as a node reports it. */
export interface ReportedTransaction {
  readonly hash: Hash;
  readonly from: Address;
  readonly to: Address | null;
  readonly input: Hex;
}

/** A payout as its calldata says it; what has moved, the token's logs say. */
export interface DecodedPayout {
  readonly payoutId: Hex;
  /** Lower case. */
  readonly recipient: Address;
  /** Credit base units. */
  readonly amount: bigint;
}

// Lower case of an address is an address.
const lower = (address: Address) => address.toLowerCase() as Address;

/**
 * Reads the payout in a transaction's calldata: a call of a contract `Payouts`, whichever one, or a transfer of the token that ends in a payout id.
 *
 * @returns the payout; undefined: it is none
 */
export function describeTransaction(
  { to, input }: Pick<ReportedTransaction, 'to' | 'input'>,
  creditToken: Address,
): DecodedPayout | undefined {
  try {
    if (input.startsWith(PAY_SELECTOR)) {
      const [payoutId, recipient, amount] = decodeFunctionData({ abi: [PAY], data: input }).args;
      return { payoutId, recipient: lower(recipient), amount };
    }
    const payoutId = readPayoutId(input);
    if (payoutId === undefined || to === null || lower(to) !== lower(creditToken)) return undefined;
    if (!input.startsWith(TRANSFER_SELECTOR)) return undefined;
    const [recipient, amount] = decodeFunctionData({ abi: [TRANSFER], data: input }).args;
    return { payoutId, recipient: lower(recipient), amount };
  } catch {
    return undefined;
  }
}
