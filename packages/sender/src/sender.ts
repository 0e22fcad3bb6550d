import type { RpcPool } from '@prism-gateway/node/rpc';
import type { Address, Hex, LocalAccount, Transport } from 'viem';
import type { Call, Intent, Sent } from './intents/intent.ts';
import type { IntentState } from './intents/intentState.ts';
import type { SenderEvent } from './senderEvent.ts';

/** The sender's part of an account; an account of viem is one, and so is a few lines round a KMS. */
export interface SenderAccount {
  readonly address: Address;
  /** Signs an EIP-1559 transaction and returns its serialised bytes. */
  signTransaction(transaction: UnsignedTransaction): Promise<Hex>;
}

/** A transaction to sign (EIP-1559). */
export interface UnsignedTransaction {
  readonly type: 'eip1559';
  readonly chainId: number;
  readonly nonce: number;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** How to send one intent. */
export interface SendOptions {
  /** Blocks that finalize it, the including one counted; at least 1. Default: the sender's. */
  readonly confirmations?: number;
  /** Ends the waiting, never the sending. */
  readonly signal?: AbortSignal;
  /** For people who read the journal. */
  readonly label?: string;
  /** The most that any version of its transaction may offer for a unit of gas, in wei, beside the sender's own ceiling. */
  readonly maxFeePerGas?: bigint;
  /**
   * Milliseconds since the epoch. From then on it is worth nothing: its nonce is freed by a self-transfer, as soon as that costs no more
   * than the transaction would if it were mined in vain; `EXPIRED` says so.
   */
  readonly expiresAtMs?: number;
  /** The policy while gas costs more than the ceiling: `wait` (default), or `reject` with `GAS_PRICE_TOO_HIGH`, nothing reserved. */
  readonly whenGasTooHigh?: 'wait' | 'reject';
}

/** A chain as somebody else follows it. */
export interface ChainView {
  /** The current price of gas, in wei. @throws what the caller throws: then the sender asks itself */
  market(): Promise<{ readonly baseFeePerGas: bigint; readonly tip: bigint }>;
  /** How long a block takes, in milliseconds; undefined: not known. */
  blockMs(): number | undefined;
  /** In how many milliseconds the next block is expected; undefined: not known. */
  nextBlockInMs(): number | undefined;
}

/** How a sender works. */
export interface SenderOptions {
  /** The SQLite file; made if it is missing. One file for one key on one chain. */
  readonly journalPath: string;
  /**
   * `http(s)://…`, several of them, or any transport of viem. Of several the first that answers is asked; what one alone could hold the
   * sender by, or have it sign wrongly, is asked of each. A pool that the caller has anyway shares its requests and
   * what it knows of the nodes, and stays open.
   */
  readonly rpcUrl: string | readonly string[] | Transport | RpcPool;
  readonly account: LocalAccount | SenderAccount;
  /** Refuses a node of another chain; default: the node's word. */
  readonly chainId?: number;
  /** Default 1. */
  readonly confirmations?: number;
  /** Most transactions on the way at once, not yet mined; default 64, which is what geth keeps for an account. */
  readonly maxInFlight?: number;
  /** Ceiling of `maxFeePerGas`, in wei; default none. */
  readonly maxFeePerGas?: bigint;
  /** A transaction that waits longer than this for a block is offered again for more; default 30,000. */
  readonly bumpAfterMs?: number;
  /** By how much; at least 10, which is the least that nodes take. Default 15. */
  readonly bumpPercent?: number;
  /** Default 1000. */
  readonly pollIntervalMs?: number;
  /** The caller's view of the chain, which it follows anyway: the sender does not ask again for what is in it. */
  readonly chainView?: ChainView;
  /** For one call; default 10,000. */
  readonly rpcTimeoutMs?: number;
  /** How long a node may fail before those learn of it of whom nothing is reserved; default 8000. */
  readonly nodeTimeoutMs?: number;
  /** Added to estimated gas; default 20. */
  readonly gasMarginPercent?: number;
  /**
   * The policy for intents when transactions of the account turn up that the journal does not know. `resend` (default): an intent whose
   * nonce one of them has taken gets another. `reject`: it is given up with `KEY_USED_ELSEWHERE`, and nothing is signed while such
   * transactions wait for a block; intents handed over before then are rejected, too: the caller looks whether they are still wanted.
   */
  readonly whenKeyIsShared?: 'resend' | 'reject';
  /**
   * How long the first of such transactions may wait for a block before a transfer of nothing takes its nonce, in milliseconds; kept over
   * restarts. Default: it is waited for.
   */
  readonly freeForeignAfterMs?: number;
  /**
   * Asked before each broadcast, the first or the tenth. False: the call must never be made; what is signed is not broadcast again, its nonce
   * is freed, and `BROADCAST_FORBIDDEN` says so. An error: not now, it is asked again. A transaction that frees a nonce is always to be let out.
   */
  readonly mayBroadcast?: (transaction: { readonly raw: Hex; readonly nonce: number }) => Promise<boolean>;
  /** Folder of the locks on keys; only processes that share it keep off each other's keys. Default: the journal's folder. */
  readonly lockDir?: string;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Milliseconds of a clock that is never set; default the machine's. */
  readonly monotonicNow?: () => number;
  readonly onEvent?: (event: SenderEvent) => void;
}

/** Puts calls on the chain, each exactly once. */
export interface Sender {
  readonly address: Address;
  readonly chainId: number;
  /**
   * Puts a call on the chain: exactly one mined transaction for an intent. Called again with the same intent and call, also after a
   * restart, it has the same outcome.
   *
   * @param intentId - the caller's name for what is to happen once; 1 to 256 characters
   * @returns the mined transaction, deep enough
   * @throws SenderError `BROADCAST_FORBIDDEN`, `CALL_REVERTED`, `EXPIRED`, `GAS_PRICE_TOO_HIGH`, `INSUFFICIENT_FUNDS`, `INTENT_MISMATCH`, `INVALID_ARGUMENT`,
   *   `KEY_USED_ELSEWHERE`, `RPC_UNAVAILABLE`, `SIGNING_FAILED`, `TRANSACTION_REFUSED`: nothing is on the chain. `CLOSED`, `JOURNAL_FAILED`: not known; ask again.
   */
  send(intentId: string, call: Call, options?: SendOptions): Promise<Sent>;
  /** The state of an intent. */
  get(intentId: string): Intent | undefined;
  /** Intents, oldest first. */
  list(filter?: { readonly states?: readonly IntentState[] }): readonly Intent[];
  /** How many intents have no outcome yet. */
  inFlight(): number;
  /**
   * Looks whether the account has transactions that the journal does not know; the event `foreign` reports it, and `outlier` a node that is
   * alone with what it says of them.
   *
   * @throws RpcAnswerError, RpcUnavailableError if no node says
   */
  checkKey(): Promise<void>;
  /** Whether such transactions wait for a block, and nothing is signed until they have one (`whenKeyIsShared: 'reject'`). */
  isHeld(): boolean;
  /**
   * Whether the transaction of the lowest nonce offers less than a block takes at a price, and may offer no more: whatever is sent now waits
   * behind it.
   *
   * @param market - what gas costs now, in wei
   */
  isStuck(market: { readonly baseFeePerGas: bigint; readonly tip: bigint }): boolean;
  /**
   * Work that pays waits behind what is stuck: for a minute, nonces are freed at any price below the sender's ceiling, of what has expired and
   * of as much that may not offer what a block takes as there is work.
   *
   * @param work.waiting - calls that would be sent now; those that pay and are in the line already are counted as well
   * @param work.market - what gas costs now, in wei
   * @returns whether there is any
   */
  unblock(work: {
    readonly waiting: number;
    readonly market: { readonly baseFeePerGas: bigint; readonly tip: bigint };
  }): boolean;
  /**
   * Drops the bytes of intents that have ended and are final on the chain, once the caller needs their logs no more: what stays is id, nonce,
   * hashes, the call's too, and outcome.
   *
   * @returns those whose bytes are gone; none if the nodes do not say what is final
   * @throws SenderError `JOURNAL_FAILED`
   */
  prune(intentIds: readonly string[]): Promise<readonly string[]>;
  /** Has one of several nodes asked only if no other answers, for a minute. @param node - its place in `rpcUrl`, from 0 */
  deprioritize(node: number): void;
  /** Stops watching and frees the locks; nothing is lost: the next `openSender` goes on. */
  close(): Promise<void>;
}
