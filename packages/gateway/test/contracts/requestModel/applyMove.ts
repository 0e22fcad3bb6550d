import type { Claim, Report, StoredRequest, Transition } from '../../../src/ports/requestStore.ts';

/** One call on one record. */
export type Move =
  | { readonly kind: 'create'; readonly record: StoredRequest }
  | { readonly kind: 'claim'; readonly claim: Claim }
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'get'; readonly requestId: string };

/** What a store answers to a move. */
export type MoveAnswer = Transition | StoredRequest | undefined;

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
  if (move.kind === 'claim') return move.claim.requestId;
  return move.kind === 'report' ? move.report.requestId : move.requestId;
}

function transition(state: ModelRecord, callId: string): Applied {
  const outcome = state.callId === callId ? 'moved' : 'conflict';
  return { state, answer: { outcome, record: state.record } };
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
 *
 * @param state - the record before; absent where there is none
 * @see ../../../src/ports/requestStore.ts
 */
export function applyMove(state: ModelRecord | undefined, move: Move): Applied {
  if (move.kind === 'create') return { state: state ?? { record: move.record }, answer: undefined };
  if (move.kind === 'claim') return applyClaim(state, move.claim);
  if (move.kind === 'report') return applyReport(state, move.report);
  return { state, answer: state?.record };
}
