import type { Address, Hash, Hex } from 'viem';
import type { PaymentState } from './paymentState.ts';

/** A payment as the journal holds it. */
export interface Payment {
  readonly paymentIntentId: string;
  /** EIP-55; of one that is refused, what the frontend has listed. */
  readonly walletAddress: Address;
  /** Stablecoin base units. */
  readonly stablecoinAmount: bigint;
  readonly state: PaymentState;
  /** Why it is held, refused or given back. */
  readonly reason?: string;
  /** Credit base units, fixed at the rate of the claim. */
  readonly creditsOwed?: bigint;
  /** Credits for one stablecoin, by which that was fixed. */
  readonly rate?: bigint;
  /** Tries of a buy or payout so far; each has an intent of its own at the sender. */
  readonly attempts: number;
  /** The payout, once `transferred`. */
  readonly txHash?: Hash;
  /** Whose payout it is. */
  readonly paidBy?: Address;
  /** Day of UTC on which it counts against the limit, like `2027-01-31`. */
  readonly countedDay?: string;
  readonly seenAtMs: number;
  readonly updatedAtMs: number;
}

/** The aim of an attempt on the chain. */
export type AttemptKind = 'buy' | 'payout';

/** Costs and transfers of a mined transaction. */
export interface MinedAttempt {
  readonly blockNumber: bigint;
  readonly gasUsed: bigint;
  /** Wei. */
  readonly gasPrice: bigint;
  /** Stablecoin base units that left this instance. */
  readonly stablecoins: bigint;
  /** Credit base units: bought, or paid out. */
  readonly credits: bigint;
}

/** A call that was journalled before it was given to the sender. */
export interface Attempt {
  /** The intent's id at the sender. */
  readonly intentId: string;
  readonly paymentIntentId: string;
  readonly kind: AttemptKind;
  readonly to: Address;
  readonly data: Hex;
  readonly state: 'open' | 'done' | 'void';
  readonly txHash?: Hash;
  /** Once it is mined. */
  readonly mined?: MinedAttempt;
}

/** A move of a payment, as it was made. */
export interface PaymentMove {
  readonly paymentIntentId: string;
  readonly atMs: number;
  readonly from: PaymentState | undefined;
  readonly to: PaymentState;
  readonly reason?: string;
}

/** Begins the reason of a payment that a person has closed because it was paid by other means. */
export const PAID_BY_HAND = 'paid by hand';
