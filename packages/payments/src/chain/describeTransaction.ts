import { creditTokenAbi, payoutsAbi } from '@prism-gateway/contracts';
import { type Address, decodeFunctionData, getAbiItem, type Hash, type Hex, toFunctionSelector } from 'viem';
import type { MarkedTransaction } from '../journal/createMarkTable.ts';
import { readMark } from './marks.ts';

const PAY = getAbiItem({ abi: payoutsAbi, name: 'pay' });
const TRANSFER = getAbiItem({ abi: creditTokenAbi, name: 'transfer' });
// viem hashes the name of each function of an ABI at each call: most of the time that a search of the chain took.
const PAY_SELECTOR = toFunctionSelector(PAY);
const TRANSFER_SELECTOR = toFunctionSelector(TRANSFER);

/** A transaction as a node tells it. */
export interface ToldTransaction {
  readonly hash: Hash;
  readonly from: Address;
  readonly to: Address | null;
  readonly input: Hex;
}

function lower(address: Address): Address {
  // Lower case of an address is an address.
  return address.toLowerCase() as Address;
}

/** A payout through a contract `Payouts`: whichever one, since an instance calls no other contract that has the function. */
function readGuarded(input: Hex): Pick<MarkedTransaction, 'mark' | 'recipient' | 'amount'> | undefined {
  if (!input.startsWith(PAY_SELECTOR)) return undefined;
  try {
    const { args } = decodeFunctionData({ abi: [PAY], data: input });
    const [mark, recipient, amount] = args;
    return { mark, recipient: lower(recipient), amount };
  } catch {
    return undefined;
  }
}

/**
 * Reads what a relayer's transaction says.
 *
 * @param transaction - sent by a relayer
 * @param creditToken - whose transfers pay
 * @returns a payout, or none
 */
export function describeTransaction(transaction: ToldTransaction, creditToken: Address): MarkedTransaction {
  const base = { txHash: transaction.hash, sender: lower(transaction.from) };
  const guarded = readGuarded(transaction.input);
  if (guarded !== undefined) return { ...base, kind: 'payout', ...guarded };
  const mark = readMark(transaction.input);
  const isTransfer = transaction.to !== null && lower(transaction.to) === lower(creditToken);
  if (mark === undefined || !isTransfer || !transaction.input.startsWith(TRANSFER_SELECTOR))
    return { ...base, kind: 'none' };
  try {
    const { args } = decodeFunctionData({ abi: [TRANSFER], data: transaction.input });
    const [recipient, amount] = args;
    return { ...base, kind: 'payout', mark, recipient: lower(recipient), amount };
  } catch {
    return { ...base, kind: 'none' };
  }
}
