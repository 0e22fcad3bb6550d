import type { Alert } from '@prism-gateway/node/alerts';
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
 * Whether a finding accuses its relayer.
 *
 * @see docs/specification.md WATCH-1
 */
export function isLie({ kind }: Pick<Finding, 'kind'>): boolean {
  return LIES.has(kind);
}

const SUBJECTS: Readonly<Record<FindingKind, string>> = {
  falseSuccess: 'reported success, and the chain shows none',
  wrongTransaction: 'named a transaction that did not carry the request out',
  falseFailure: 'reported failed what was carried out, or would have been',
  idleClaim: 'holds a request beyond the lease and does nothing',
  idleRelease: 'claims requests, gives them back and never works',
  executedLater: 'reported failed what somebody else carried out later',
  reorganised: 'reported what a reorganisation has undone',
  otherForwarder: 'works with another Forwarder than the watchtower',
};

const ADVICE: Readonly<Record<FindingKind, string>> = {
  falseSuccess: 'Suspend the relayer, and post the request again: its signature is unused.',
  wrongTransaction: 'Suspend the relayer. The request itself was carried out.',
  falseFailure:
    'Suspend the relayer. If the request was carried out, its user must not sign it again; else reopen it (prism requests reopen).',
  idleClaim: 'Suspend the relayer and release what it holds.',
  idleRelease: 'Suspend the relayer: it keeps requests from the others.',
  executedLater: 'Notify the user: the record says failed, and the request was carried out.',
  reorganised: 'No relayer can be blamed. The record says other than the chain: notify the user (prism requests show).',
  otherForwarder: 'Set the right Forwarder: until then no report can be compared with the chain.',
};

/**
 * Writes the alert of a finding.
 *
 * @see docs/watchtower.md, "What it finds"
 */
export function describeFinding(finding: Finding): Alert {
  const { kind, relayer, requestId, text, block } = finding;
  const code = `WATCHTOWER_${kind.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
  return {
    code,
    severity: isLie(finding) ? 'critical' : 'warning',
    subject: `Relayer ${relayer} ${SUBJECTS[kind]}`,
    text: `Request ${requestId}, found at block ${block}. ${text} ${ADVICE[kind]}`,
  };
}
