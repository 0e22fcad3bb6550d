import type {
  BatchTransition,
  Claim,
  ClaimTransition,
  Creation,
  Release,
  Report,
  StoredRequest,
  Transition,
} from '../../../src/ports/requestStore.ts';

/** One call on one record. */
export type Move =
  | { readonly kind: 'create'; readonly record: StoredRequest }
  | { readonly kind: 'claim'; readonly claim: Claim }
  | { readonly kind: 'renew'; readonly claim: Claim }
  | { readonly kind: 'release'; readonly release: Release }
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'get'; readonly requestId: string };

/** A store's answer to a move. */
export type MoveAnswer = Transition | ClaimTransition | BatchTransition | Creation | StoredRequest | undefined;

/** A record as the model knows it. */
export interface ModelRecord {
  readonly record: StoredRequest;
  /** Id of the call that moved it last. */
  readonly callId?: string;
}

export interface Applied {
  readonly state: ModelRecord | undefined;
  readonly answer: MoveAnswer;
}

/** The id of the record that a move is about. */
export function requestIdOf(move: Move): string {
  if (move.kind === 'create') return move.record.requestId;
  if (move.kind === 'claim' || move.kind === 'renew') return move.claim.requestId;
  if (move.kind === 'release') return move.release.requestId;
  return move.kind === 'report' ? move.report.requestId : move.requestId;
}

function transition(state: ModelRecord, callId: string): Applied {
  const { record } = state;
  return { state, answer: state.callId === callId ? { outcome: 'moved', record } : { outcome: 'conflict', record } };
}

function applyClaim(state: ModelRecord | undefined, claim: Claim): Applied {
  if (state === undefined) return { state, answer: { outcome: 'missing' } };
  const { relayer, claimId, now, leaseExpiredAt } = claim;
  const { status, claimedAt } = state.record;
  const isExpired =
    status === 'processing' &&
    state.callId !== claimId &&
    leaseExpiredAt !== undefined &&
    claimedAt !== undefined &&
    claimedAt <= leaseExpiredAt;
  if (status !== 'pending' && !isExpired) return transition(state, claimId);
  const record = { ...state.record, status: 'processing', claimedBy: relayer, claimedAt: now, updatedAt: now } as const;
  return transition({ record, callId: claimId }, claimId);
}

/** A claim in a batch: what the relayer holds under a lease that has not lapsed is claimed anew. */
function applyRenewal(state: ModelRecord | undefined, claim: Claim): Applied {
  const { relayer, claimId, now, leaseExpiredAt = -1 } = claim;
  const { status, claimedBy, claimedAt = 0 } = state?.record ?? {};
  const isOwn = status === 'processing' && claimedBy?.toLowerCase() === relayer.toLowerCase();
  if (state && isOwn && claimedAt > leaseExpiredAt && state.callId !== claimId) {
    const record = { ...state.record, claimedAt: now, updatedAt: now };
    return inBatch(transition({ record, callId: claimId }, claimId));
  }
  return inBatch(applyClaim(state, claim));
}

/** An answer as a batch gives it: of what was moved the record without params, else its status. */
function inBatch({ state, answer }: Applied): Applied {
  if (!answer || !('outcome' in answer) || !('record' in answer) || answer.record === undefined)
    return { state, answer };
  const { paramsJson: _, ...record } = { paramsJson: '', ...answer.record };
  if (answer.outcome === 'moved') return { state, answer: { outcome: 'moved', record } };
  return { state, answer: { outcome: 'conflict', status: record.status } };
}

function applyRelease(state: ModelRecord | undefined, release: Release): Applied {
  if (state === undefined) return { state, answer: { outcome: 'missing' } };
  const { relayer, releaseId, now } = release;
  const { claimedBy, claimedAt, ...unclaimed } = state.record;
  const isOwner = claimedBy?.toLowerCase() === relayer.toLowerCase();
  if (state.record.status !== 'processing' || !isOwner) return transition(state, releaseId);
  return transition({ record: { ...unclaimed, status: 'pending', updatedAt: now }, callId: releaseId }, releaseId);
}

function applyReport(state: ModelRecord | undefined, report: Report): Applied {
  if (state === undefined) return { state, answer: { outcome: 'missing' } };
  const { relayer, reportId, now, outcome } = report;
  const isOwner = state.record.claimedBy?.toLowerCase() === relayer.toLowerCase();
  if (state.record.status !== 'processing' || !isOwner) return transition(state, reportId);
  return transition({ record: { ...state.record, ...outcome, updatedAt: now }, callId: reportId }, reportId);
}

/**
 * The port's docstring as a function: what a move makes of a record, and what is answered.
 *
 *     (none) --create--> pending --claim--> processing --report--> success | failed
 *                                           processing --claim (lease expired)--> processing
 *                                           processing --claimAll (its owner)--> processing
 *                                           processing --release (its owner)--> pending
 *
 * @see ../../../src/ports/requestStore.ts
 */
export function applyMove(state: ModelRecord | undefined, move: Move): Applied {
  if (move.kind === 'create') return { state: state ?? { record: move.record }, answer: { outcome: 'created' } };
  if (move.kind === 'renew') return applyRenewal(state, move.claim);
  if (move.kind === 'release') return applyRelease(state, move.release);
  if (move.kind === 'claim') return applyClaim(state, move.claim);
  if (move.kind === 'report') return applyReport(state, move.report);
  return { state, answer: state?.record };
}
