import type { Alert } from '@prism-gateway/alerts';
import { type Finding, type FindingKind, isLie } from './finding.ts';

const SUBJECTS: Readonly<Record<FindingKind, string>> = {
  falseSuccess: 'reported success, and the chain shows none',
  wrongTransaction: 'named a transaction that did not carry the request out',
  falseFailure: 'reported failed what was carried out',
  idleClaim: 'holds a request beyond the lease and does nothing',
  idleRelease: 'claims requests, gives them back and never works',
  executedLater: 'reported failed what somebody else carried out later',
  reorganised: 'reported what a reorganisation has undone',
};

const ADVICE: Readonly<Record<FindingKind, string>> = {
  falseSuccess: 'Suspend the relayer, and post the request again: its signature is unused.',
  wrongTransaction: 'Suspend the relayer. The request itself was carried out.',
  falseFailure: 'Suspend the relayer. The request was carried out, so its user must not sign it again.',
  idleClaim: 'Suspend the relayer and release what it holds.',
  idleRelease: 'Suspend the relayer: it keeps requests from the others.',
  executedLater: 'Tell the user: the record says failed, and the request was carried out.',
  reorganised: 'Look at the request by hand; no relayer is to blame.',
};

/**
 * Writes the alert of a finding.
 *
 * @param finding - what was found
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
