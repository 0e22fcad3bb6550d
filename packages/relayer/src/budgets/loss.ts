/** A party's loss. */
export interface Loss {
  readonly requestId: string;
  readonly signers: readonly string[];
  readonly codes: readonly string[];
  readonly wei: bigint;
  /** Credits that the relayer has put into a prism, less what it got back as its fee. */
  readonly gift: bigint;
  readonly atMs: number;
}

/** Losses and gifts that are still possible while a request is under way. */
export interface Stake {
  readonly wei: bigint;
  readonly gift: bigint;
}

/** A budget that is used up. */
export interface ExceededBudget {
  readonly budget: 'request' | 'signer' | 'code' | 'hour' | 'day' | 'signerGifts' | 'dayGifts';
  /** Whose it is; empty for those of an hour and a day. */
  readonly party: string;
  readonly lost: bigint;
  readonly limit: bigint;
  /** When some of it is free again, in Unix milliseconds. */
  readonly untilMs: number;
}
