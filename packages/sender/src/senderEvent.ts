import type { Hash } from 'viem';
import type { SenderErrorCode } from './senderError.ts';

/** Something that happened while sending; for logs and metrics, never needed for correctness. */
export type SenderEvent =
  | { readonly type: 'recovered'; readonly live: number; readonly nextNonce: number }
  | { readonly type: 'signed'; readonly intentId: string; readonly nonce: number; readonly txHash: Hash }
  | { readonly type: 'broadcast'; readonly intentId: string; readonly nonce: number; readonly txHash: Hash }
  /** The node does not take a transaction, for now or for good. */
  | { readonly type: 'refused'; readonly intentId: string; readonly nonce: number; readonly reason: string }
  | {
      readonly type: 'bumped';
      readonly intentId: string;
      readonly nonce: number;
      readonly txHash: Hash;
      readonly maxFeePerGas: bigint;
    }
  | { readonly type: 'cancelling'; readonly intentId: string; readonly nonce: number; readonly code: SenderErrorCode }
  | {
      readonly type: 'mined';
      readonly intentId: string;
      readonly nonce: number;
      readonly txHash: Hash;
      readonly blockNumber: bigint;
    }
  /** A mined transaction vanished from the chain; its bytes are broadcast again. */
  | { readonly type: 'reorged'; readonly intentId: string; readonly nonce: number; readonly txHash: Hash }
  /** The chain's account nonce has passed, and none of the intent's transactions has a receipt. */
  | { readonly type: 'displaced'; readonly intentId: string; readonly nonce: number }
  /**
   * Transactions of the account that the journal does not know: another process uses the key, or the journal is an old one. They have the
   * account nonces from `nonce` on.
   */
  | {
      readonly type: 'foreign';
      readonly nonce: number;
      readonly count: number;
      /** Of the one that took an intent's nonce. */
      readonly txHash?: Hash;
      /** Found when the sender was opened. */
      readonly isOld?: boolean;
    }
  /**
   * One of several nodes says what the others do not confirm of the account's transactions, and cannot show the one that it speaks of: it is
   * not believed.
   */
  | {
      readonly type: 'outlier';
      /** The node's place among the URLs, from 0. */
      readonly node: number;
      /** How many transactions of the account it says there are, with what waits in the node. */
      readonly count: number;
      /** How many there are, as the journal and the others have it. */
      readonly agreed: number;
    }
  /** The old nonce is proven to be consumed by a foreign transaction: the intent gets a new one. */
  | { readonly type: 'requeued'; readonly intentId: string; readonly nonce: number; readonly foreignTxHash: Hash }
  | {
      readonly type: 'confirmed';
      readonly intentId: string;
      readonly nonce: number;
      readonly txHash: Hash;
      readonly status: 'success' | 'reverted';
    }
  | {
      readonly type: 'abandoned';
      readonly intentId: string;
      readonly nonce: number;
      readonly code: SenderErrorCode;
      /** The cost of freeing the nonce; 0 if a foreign transaction has used it. */
      readonly spentWei: bigint;
    }
  /** Sending waits until the price is under the ceiling again; reported once for each time it rises above. */
  | { readonly type: 'gasPriceTooHigh'; readonly neededWei: bigint; readonly ceilingWei: bigint }
  | { readonly type: 'insufficientFunds'; readonly balanceWei: bigint; readonly neededWei: bigint }
  /** A nonce under those in flight was free on the chain: filled again with the journal's bytes, or with a self-transfer. */
  | { readonly type: 'gapFilled'; readonly nonce: number; readonly txHash: Hash }
  /** The account did not sign; what has been promised already is tried again. */
  | { readonly type: 'signingFault'; readonly intentId: string; readonly reason: string }
  | { readonly type: 'rpcFault'; readonly method: string; readonly reason: string }
  | { readonly type: 'journalFault'; readonly reason: string };
