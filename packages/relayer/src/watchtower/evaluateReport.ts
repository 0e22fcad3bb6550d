import { isDeepEnough } from '@prism-gateway/node/rpc';
import type { UnsignedParams } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import { createRequestHasher, listSignedParts } from '../checks/findNonce.ts';
import type { SignedRecord } from '../lifecycle/states.ts';
import type { Finding, FindingKind } from './finding.ts';

/**
 * Compares a relayer's report with the chain. An execution is one of that very request: its event carries the digest.
 *
 * success     the event stands in the transaction that was named         true, once it is deep enough
 *               it stands in another one                                   wrongTransaction
 *               it stands nowhere, CONFIRMATIONS blocks after the report   falseSuccess
 *   failed      deep on the chain before its claim                         falseFailure
 *               carried out by the reporter                                falseFailure, if nodes say that it was before the report,
 *                                                                          or that it could have been all the time until then
 *               carried out by somebody else later                         executedLater (no lie)
 *               not carried out                                            falseFailure, if nodes say that it would have been
 *   processing  carried out                                                an act: the report is waited for
 *               idle beyond the lease, and its holder has sent nothing     idleClaim
 *               idle beyond twice the lease                                idleClaim
 *
 * A reorganisation deeper than the confirmations excuses whoever reported before it, and so does a time in which nobody looked; any at all,
 * whoever reported `failed`. Idle is a
 * holder while the price of gas is no higher than when it claimed, and no transaction of its waits.
 */

/** Why a report may not be true without being a lie; `simulated`: nodes have said that it would have failed. */
export type Excuse = 'none' | 'fork' | 'undone' | 'simulated';

/** An execution of a request, as its event shows. */
export interface SeenExecution {
  readonly txHash: Hex;
  readonly block: bigint;
  /** Who submitted it, in lower case. */
  readonly relayer: Hex;
  /** Unix seconds by which it was deep enough; undefined while it is not. */
  readonly deepSeconds: bigint | undefined;
}

/** A relayer's report of a request. */
export interface ReportedRequest {
  readonly requestId: string;
  readonly status: 'processing' | 'success' | 'failed';
  /** Who holds or reported it, in lower case. */
  readonly relayer: Hex;
  /** Unix seconds of the first claim that this relayer has held without a break. */
  readonly claimedSeconds: bigint;
  /** Why a `failed` is said to have failed. */
  readonly errorMessage?: string | undefined;
  /** The transaction that a `success` names, in lower case. */
  readonly txHash: Hex | undefined;
  /** The newest block when the report was there for sure; undefined: no block is as late as it. */
  readonly endedBlock: bigint | undefined;
  /** From when on the Forwarder would not take it any more, in Unix seconds. */
  readonly expiresSeconds: bigint;
  /** A later excuse: a reorganisation, or one deeper than the confirmations, or that has undone what was true. */
  readonly excuse: Excuse;
  /** How long its holder has been seen idle, in seconds. */
  readonly idleSeconds: bigint;
  /** Unix seconds of the report, or of the reorganisation that has undone it. */
  readonly endedSeconds: bigint;
}

/** The chain's evidence on it. */
export interface Evidence {
  readonly head: { readonly number: bigint; readonly seconds: bigint };
  readonly confirmations: bigint;
  readonly leaseSeconds: bigint;
  /** Executions of this request, by digest, oldest first. */
  readonly executions: readonly SeenExecution[];
  /** Whether the holder has sent any transaction since its claim. */
  readonly hasActed: boolean;
}

/** The next step: look again with the next block, wait until something of the signer's happens, no more doubt, or a finding. */
export type Evaluation = 'again' | 'watch' | 'done' | Finding;

interface Case {
  readonly report: ReportedRequest;
  readonly evidence: Evidence;
}

function isFinal({ evidence: { head, confirmations } }: Case, { block }: SeenExecution): boolean {
  return isDeepEnough(block, { head: head.number, confirmations });
}

function find(
  { report, evidence }: Case,
  { kind, text, execution }: { kind: FindingKind; text: string; execution?: SeenExecution },
): Finding {
  const { requestId, relayer } = report;
  return { requestId, kind, relayer, text, txHash: execution?.txHash, block: evidence.head.number };
}

/**
 * Finds the lowest price at a claim than which a price of gas counts as no dearer, in wei. A block moves the base fee by an eighth at most,
 * and whoever claims goes by one that may not be the newest; else whoever claims at the cheapest moment of an hour could idle for all of it.
 *
 * @see https://eips.ethereum.org/EIPS/eip-1559
 */
export const leastClaimPrice = (price: bigint): bigint => (price * 8n + 8n) / 9n;

/** How many blocks back a node knows the state of the chain. @see https://geth.ethereum.org/docs/fundamentals/sync-modes */
const KEPT_BLOCKS = 128n;

const REORGANISED =
  'A reorganisation deeper than the confirmations came between the claim and now, or may have while nobody looked.';

function evaluateSuccess(given: Case): Evaluation {
  const { report, evidence } = given;
  const named = evidence.executions.find(({ txHash }) => txHash === report.txHash);
  if (named !== undefined) return isFinal(given, named) ? 'done' : 'again';
  const { endedBlock } = report;
  if (endedBlock === undefined || evidence.head.number < endedBlock + evidence.confirmations) return 'again';
  // Its transaction may be mined again.
  if (report.excuse === 'undone' && evidence.head.seconds <= report.endedSeconds + evidence.leaseSeconds)
    return 'again';
  if (report.excuse === 'undone') return find(given, { kind: 'reorganised', text: REORGANISED });
  const [other] = evidence.executions;
  if (other === undefined) {
    const text = `Transaction ${report.txHash} holds no event of this request, and no other one does.`;
    return find(given, { kind: 'falseSuccess', text });
  }
  if (!isFinal(given, other)) return 'again';
  const text = `Transaction ${report.txHash} was named; ${other.txHash} has carried the request out.`;
  return find(given, { kind: 'wrongTransaction', text, execution: other });
}

/** Evaluates a request that nobody has carried out: whether it could have been, nodes that still know that time show. */
function evaluateUndone(given: Case): Evaluation {
  const { report, evidence } = given;
  const { head, confirmations } = evidence;
  if (head.seconds > report.expiresSeconds) return 'done';
  if (report.excuse !== 'none') return 'watch';
  const { endedBlock } = report;
  if (endedBlock === undefined || head.number < endedBlock + confirmations) return 'again';
  if (head.number > endedBlock + confirmations + KEPT_BLOCKS) return 'watch';
  const text = `It said "${report.errorMessage}", and from claim to report the request would have been carried out, or waited for an earlier nonce that was open.`;
  return find(given, { kind: 'falseFailure', text });
}

function evaluateFailed(given: Case): Evaluation {
  const { report, evidence } = given;
  const { executions } = evidence;
  const [first] = executions;
  if (first === undefined) return evaluateUndone(given);
  // Anybody can post a signed request again, and its reporter may carry that out much later.
  const endedBlock = report.endedBlock ?? evidence.head.number;
  const isOwn = ({ relayer, block }: SeenExecution) =>
    relayer === report.relayer && block <= endedBlock + evidence.confirmations + KEPT_BLOCKS;
  const wasDeep = ({ deepSeconds }: SeenExecution) => deepSeconds !== undefined && deepSeconds <= report.claimedSeconds;
  const execution = executions.find((each) => isOwn(each) || wasDeep(each)) ?? first;
  if (!isFinal(given, execution)) return 'again';
  if (report.excuse === 'undone') return find(given, { kind: 'reorganised', text: REORGANISED, execution });
  if (isOwn(execution)) {
    const text = `It carried the request out itself, in transaction ${execution.txHash}.`;
    return find(given, { kind: 'falseFailure', text, execution });
  }
  if (wasDeep(execution)) {
    const text = `Transaction ${execution.txHash} had carried the request out before the claim.`;
    return find(given, { kind: 'falseFailure', text, execution });
  }
  const text = `Transaction ${execution.txHash}, of relayer ${execution.relayer}, has carried the request out since.`;
  return find(given, { kind: 'executedLater', text, execution });
}

function evaluateHeld(given: Case): Evaluation {
  const { report, evidence } = given;
  const { executions, head, leaseSeconds, hasActed } = evidence;
  const heldSeconds = head.seconds - report.claimedSeconds;
  // A disk that was full, or a host that was gone, for as long as a lease is no lie; others take a claim over after a lease and a third.
  const boundSeconds = hasActed ? 2n * leaseSeconds : (5n * leaseSeconds) / 4n;
  if (executions.length > 0 || report.idleSeconds <= boundSeconds) return 'again';
  const did = hasActed ? 'not carried it out' : 'sent nothing since';
  const text = `It has held the request for ${heldSeconds} s, for ${report.idleSeconds} s without anything in the way, and ${did}.`;
  return find(given, { kind: 'idleClaim', text });
}

/**
 * Evaluates a report. Nothing is asked here, so that what follows from the evidence can be tested alone.
 *
 * @see docs/specification.md WATCH-1
 */
export function evaluateReport(report: ReportedRequest, evidence: Evidence): Evaluation {
  const given = { report, evidence };
  if (report.status === 'success') return evaluateSuccess(given);
  return report.status === 'failed' ? evaluateFailed(given) : evaluateHeld(given);
}

/** An event's facts about its request. */
interface EventMark {
  readonly digest: Hex;
  /** In lower case. */
  readonly signer: Hex;
  readonly nonce: bigint;
}

/** A request, as its events know it. */
interface DigestTest {
  /** Whose events can be its own, in lower case. */
  readonly signers: ReadonlySet<Hex>;
  /** Whether an event is of this very request, or of an entry of it. */
  isOf(event: EventMark): boolean;
}

/**
 * Makes the test whether an event is of a request: the digest of what was signed, with the nonce that the event shows.
 *
 * @see docs/specification.md CHAIN-12
 */
export function createDigestTest(
  request: SignedRecord,
  forwarder: { readonly chainId: number; readonly forwarder: Hex },
): DigestTest {
  const parts = listSignedParts(request).map(({ action, params, signer }) => ({
    signer,
    hashWith: createRequestHasher({ action, params: params as UnsignedParams, ...forwarder }),
  }));
  return {
    signers: new Set(parts.map(({ signer }) => signer)),
    isOf: ({ digest, signer, nonce }) =>
      parts.some((part) => part.signer === signer && part.hashWith(nonce) === digest),
  };
}
