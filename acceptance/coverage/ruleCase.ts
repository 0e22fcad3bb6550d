/** One case of a rule of the contract: what a black-box test can show of it. */
export interface RuleCase {
  /** Name by which a test says that it covers the case. */
  readonly id: string;
  /** The rule of `docs/specification.md`, such as `CLAIM-1`. */
  readonly rule: string;
  readonly says: string;
  /** Why no black-box test can cover it; such a case is listed and not counted as missing. */
  readonly elsewhere?: string;
}
