import type { Address, Hash, Hex } from 'viem';
import { numberToHex } from 'viem';
import type { Lie } from './chain.ts';

const isHex = (value: unknown): value is Hex => typeof value === 'string';
const same = (one: unknown, other: string | undefined) =>
  other === undefined || `${one}`.toLowerCase() === other.toLowerCase();

/** Turns receipts round: success becomes failure, and failure success. */
function flipReceiptStatus(which: (hash: Hash) => boolean = () => true): Lie {
  const flip = (receipt: unknown) => {
    const { status, transactionHash } = Object(receipt);
    if (status === undefined || !which(transactionHash)) return receipt;
    return { ...Object(receipt), status: status === '0x1' ? '0x0' : '0x1' };
  };
  return ({ method }, result) => {
    if (method === 'eth_getTransactionReceipt') return flip(result);
    return method === 'eth_getBlockReceipts' && Array.isArray(result) ? result.map(flip) : result;
  };
}

/** Ready lies of nodes. */
export const lies = {
  flipReceiptStatus,
  /** Says that there is no receipt. */
  noReceipt:
    (which: (hash: Hash) => boolean = () => true): Lie =>
    ({ method }, result) =>
      method === 'eth_getTransactionReceipt' && which(Object(result).transactionHash) ? null : result,
  balance:
    (wei: bigint, address?: Address): Lie =>
    ({ method, params }, result) =>
      method === 'eth_getBalance' && same(params[0], address) ? numberToHex(wei) : result,
  accountNonce:
    (count: number, address?: Address): Lie =>
    ({ method, params }, result) =>
      method === 'eth_getTransactionCount' && same(params[0], address) ? numberToHex(count) : result,
  /** Makes the results of calls up. */
  call:
    (made: Hex, to?: Address): Lie =>
    ({ method, params }, result) =>
      method === 'eth_call' && same(Object(params[0]).to, to) ? made : result,
  /** Gives every block the same false hash. */
  blockHash:
    (hash: Hash): Lie =>
    ({ method }, result) =>
      method.startsWith('eth_getBlockBy') && isHex(Object(result).hash) ? { ...Object(result), hash } : result,
  /** Claims a newest block that is this much further. */
  head:
    (ahead: number): Lie =>
    ({ method, params }, result) => {
      if (method === 'eth_blockNumber') return numberToHex(BigInt(`${result}`) + BigInt(ahead));
      if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return result;
      const block = Object(result);
      return { ...block, number: numberToHex(BigInt(block.number) + BigInt(ahead)) };
    },
  /** One after the other. */
  all:
    (...each: readonly Lie[]): Lie =>
    (call, result) =>
      each.reduce((said, lie) => lie(call, said), result),
} as const;
