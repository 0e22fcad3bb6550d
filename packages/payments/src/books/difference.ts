/** Where two books do not agree. */
export interface Difference {
  /** Empty: no payment of the journal. */
  readonly paymentIntentId: string;
  /** One sentence. */
  readonly what: string;
}
