import type { Hex } from 'viem';

/** A kind of untrue report. */
export type FindingKind =
  /** Reported `success`; nothing on the chain has carried the request out. */
  | 'falseSuccess'
  /** Reported `success` with a transaction that has not carried the request out, though another one has. */
  | 'wrongTransaction'
  /** Reported `failed` by a relayer that carried it out itself, or claimed it when it was carried out already, or could have done so. */
  | 'falseFailure'
  /** Held beyond the lease, with no act that the chain shows. */
  | 'idleClaim'
  /** Gave claims back again and again, and carried nothing out. */
  | 'idleRelease'
  /** Reported `failed`, and carried out by somebody else later: no lie, but the record is wrong. */
  | 'executedLater'
  /** Carried out by another Forwarder than the one that is watched, for which it was signed: no lie, but somebody's settings are wrong. */
  | 'otherForwarder'
  /** Not true any more, since a reorganisation deeper than the confirmations has come between: no lie. */
  | 'reorganised';

/** Something that was found out about a report. */
export interface Finding {
  readonly requestId: string;
  readonly kind: FindingKind;
  /** Who reported or holds it, in lower case. */
  readonly relayer: Hex;
  /** The evidence, in a sentence. */
  readonly text: string;
  /** The transaction that has carried the request out, if there is one. */
  readonly txHash: Hex | undefined;
  /** The newest block when it was found. */
  readonly block: bigint;
}

const LIES: ReadonlySet<FindingKind> = new Set([
  'falseSuccess',
  'wrongTransaction',
  'falseFailure',
  'idleClaim',
  'idleRelease',
]);

/**
 * Tells whether a finding accuses its relayer.
 *
 * @see docs/specification.md WATCH-1
 */
export function isLie({ kind }: Pick<Finding, 'kind'>): boolean {
  return LIES.has(kind);
}
