import type { Address, Hash, Hex, Log } from 'viem';
import type { SenderErrorCode } from '../senderError.ts';
import type { IntentState } from './intentState.ts';

/** The caller's call on the chain. */
export interface Call {
  readonly to: Address;
  readonly data: Hex;
  /** In wei; default 0. */
  readonly value?: bigint;
  /** Given: taken as it is, without an estimation. */
  readonly gasLimit?: bigint;
}

/** Why an intent is being given up, or was. */
export interface IntentFailure {
  readonly code: SenderErrorCode;
  readonly message: string;
  /** The cost of freeing the nonce, in wei, once it is `abandoned`. */
  readonly spentWei?: bigint;
}

/** A signed transaction of a nonce; several versions of a nonce differ in their fees, and at most one of them can be mined. */
export interface TxVersion {
  readonly hash: Hash;
  /** Absent: it fills a gap and belongs to no intent. */
  readonly intentId?: string;
  readonly nonce: number;
  /** `call` is the intent's call; `cancel` a self-transfer that frees the nonce. */
  readonly kind: 'call' | 'cancel';
  readonly raw: Hex;
  readonly gasLimit: bigint;
  /** In wei. */
  readonly maxFeePerGas: bigint;
  /** In wei. */
  readonly maxPriorityFeePerGas: bigint;
  readonly createdAtMs: number;
}

/** An intent as the journal has it. */
export interface Intent {
  readonly intentId: string;
  readonly state: IntentState;
  readonly label?: string;
  /** Absent once it was pruned. */
  readonly call?: { readonly to: Address; readonly data: Hex; readonly value: bigint };
  /** Of the call, once it was pruned. @see hashCall */
  readonly callHash?: Hex;
  /** Blocks that finalize it, the including one counted. */
  readonly confirmations: number;
  /** The account nonce it holds now; absent while `queued`. */
  readonly nonce?: number;
  /** Hashes of all transactions ever signed for it, oldest first; those on nonces lost to others included. */
  readonly txHashes: readonly Hash[];
  /** The outcome, once `confirmed`. */
  readonly sent?: Sent;
  /** Why, once `cancelling` or `abandoned`. */
  readonly failure?: IntentFailure;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The outcome of an intent: its one mined transaction. */
export interface Sent {
  readonly intentId: string;
  readonly txHash: Hash;
  /** The account nonce. */
  readonly nonce: number;
  /** `reverted` is an outcome, too: the transaction is mined, and its call had no effect. */
  readonly status: 'success' | 'reverted';
  readonly blockNumber: bigint;
  readonly blockHash: Hash;
  readonly gasUsed: bigint;
  /** In wei. */
  readonly effectiveGasPrice: bigint;
  /** The price of the data beside the gas, in wei: on OP-stack chains. */
  readonly dataFee: bigint;
  readonly logs: readonly Log[];
}
