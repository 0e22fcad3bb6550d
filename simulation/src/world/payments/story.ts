/** A payout on the chain as it is. */
export interface Payout {
  readonly txHash: string;
  readonly from: string;
  /** Credit base units. */
  readonly credits: bigint;
  readonly blockNumber: number;
}

/** The required end of a card payment. */
export type PaymentExpectation =
  /** Paid once, and the frontend knows. */
  | 'paid'
  /** It is over the limit: a person is alerted and decides. */
  | 'held'
  /** Its data are wrong: a person is alerted, and nothing is ever paid. */
  | 'refused';

/** One card payment, and what is known of it. */
export interface PaymentStory {
  /** The payment intent. */
  readonly id: string;
  /** Name of the frontend that lists it. */
  readonly frontend: string;
  /** A wallet of its own, in lower case: what arrives there is its payout. */
  readonly wallet: string;
  /** Stablecoin base units. */
  readonly amount: bigint;
  readonly postedAtMs: number;
  readonly expects: PaymentExpectation;
  /** On the chain as it is. */
  readonly payouts: Payout[];
  /** By instance, in its journal. */
  readonly states: Map<string, string>;
  completedAtMs: number | undefined;
  /** The transaction that the frontend was notified of. */
  txHash: string | undefined;
  /** How long it has not ended although nothing stood in its way, in milliseconds. */
  openCalmMs: number;
}

/** A message in the operators' chat. */
export interface ChatMessage {
  readonly atMs: number;
  /** Name of the machine that sent it. */
  readonly from: string;
  readonly text: string;
}
