import type { Hex } from 'viem';

/** The faults of a sending. */
export type SenderErrorCode =
  | 'BROADCAST_FORBIDDEN'
  | 'CALL_REVERTED'
  | 'CLOSED'
  | 'EXPIRED'
  | 'GAS_PRICE_TOO_HIGH'
  | 'INSUFFICIENT_FUNDS'
  | 'INTENT_MISMATCH'
  | 'INVALID_ARGUMENT'
  | 'JOURNAL_FAILED'
  | 'JOURNAL_LOCKED'
  | 'KEY_IN_USE'
  | 'KEY_USED_ELSEWHERE'
  | 'RPC_UNAVAILABLE'
  | 'SIGNING_FAILED'
  | 'TRANSACTION_REFUSED'
  | 'WRONG_CHAIN';

/** Facts that an error carries beside its code and sentence. */
interface SenderErrorFacts {
  readonly cause?: unknown;
  /** The return data of a reverted call, for `CALL_REVERTED`. */
  readonly data?: Hex | undefined;
  /** The cost of freeing its nonce, in wei. */
  readonly spentWei?: bigint | undefined;
}

/**
 * A sending that failed. Nothing of the intent is on the chain, or ever will be, when `send` rejects with anything but `CLOSED`
 * and `JOURNAL_FAILED`.
 */
export class SenderError extends Error {
  override readonly name = 'SenderError';
  /** Stable; match by it, never by the message. */
  readonly code: SenderErrorCode;
  /** The return data of the reverted call. */
  readonly data: Hex | undefined;
  /** The cost of freeing the nonce of a transaction that was given up, in wei. */
  readonly spentWei: bigint;

  /**
   * @param message - one sentence: what was wrong, with which value, what to do next; without secrets
   */
  constructor(code: SenderErrorCode, message: string, facts: SenderErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.data = facts.data;
    this.spentWei = facts.spentWei ?? 0n;
  }
}
