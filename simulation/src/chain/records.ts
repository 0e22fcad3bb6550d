/** The blocks and transactions of all branches, as the parts of the chain hold them. */
import type { Address, Hash, Hex, TransactionSerializable } from 'viem';
import type { ChainBlock, ChainLog, MinedTransaction } from './chain.ts';

/** A signed transaction whose form and signature are right. */
export interface SignedTransaction {
  readonly raw: Hex;
  readonly hash: Hash;
  readonly from: Address;
  readonly type: 'legacy' | 'eip2930' | 'eip1559' | 'eip7702';
  readonly chainId: number;
  readonly nonce: number;
  readonly to: Address | undefined;
  readonly data: Hex;
  readonly value: bigint;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly accessList: readonly { readonly address: Address; readonly storageKeys: readonly Hex[] }[];
  readonly authorizations: readonly Authorization[];
  readonly signature: { readonly r: Hex; readonly s: Hex; readonly yParity: number; readonly v: bigint };
}

/** An account's permission to run a contract's code in its name. @see https://eips.ethereum.org/EIPS/eip-7702 */
export interface Authorization {
  readonly chainId: number;
  readonly address: Address;
  readonly nonce: number;
  readonly yParity: number;
  readonly r: Hex;
  readonly s: Hex;
  /** Who signed it; undefined: nobody can have. */
  readonly authority: Address | undefined;
}

export type Unsigned = TransactionSerializable;

/** The block as the EVM knows it while it runs in it. */
export interface BlockEnvironment {
  readonly number: number;
  readonly timestampSeconds: bigint;
  readonly baseFeePerGas: bigint;
  readonly gasLimit: bigint;
  readonly feeRecipient: Address;
  readonly prevRandao: Hex;
}

export interface TransactionRecord extends MinedTransaction {
  readonly signed: SignedTransaction;
  readonly block: BlockRecord;
  readonly index: number;
  readonly cumulativeGasUsed: bigint;
  readonly contractAddress: Address | undefined;
  readonly logs: readonly LogRecord[];
  /** Written when first asked for. */
  json?: object;
  receiptJson?: object;
}

export interface LogRecord extends ChainLog {
  readonly transactionIndex: number;
  readonly block: BlockRecord;
  json?: object;
}

/** A block; what depends on all of it is filled in when it is sealed. */
export interface BlockRecord extends ChainBlock {
  readonly parent: BlockRecord | undefined;
  readonly gasLimit: bigint;
  readonly feeRecipient: Address;
  readonly prevRandao: Hex;
  /** The others' price in it beyond the base fee, and their gas. */
  readonly market: { readonly gas: bigint; readonly tipPerGas: bigint };
  hash: Hash;
  gasUsed: bigint;
  stateRoot: Hash;
  transactionsRoot: Hash;
  receiptsRoot: Hash;
  logsBloom: Hex;
  transactions: readonly TransactionRecord[];
  logs: readonly LogRecord[];
  json?: object;
  fullJson?: object;
}
