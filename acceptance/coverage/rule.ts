/** One thing that the contract says, and where. */
export interface Rule {
  /** Name by which a test says that it covers the rule. */
  readonly id: string;
  readonly from: string;
  readonly says: string;
  /** Why no black-box test can cover it; such a rule is listed and not counted as missing. */
  readonly elsewhere?: string;
}
