import type { DatabaseSync } from 'node:sqlite';
import { REQUEST_MOVES as MOVES, type RequestStatus } from '@prism-gateway/protocol/states';
import type {
  BatchTransition,
  Claim,
  ClaimTransition,
  Creation,
  OldestClaim,
  Release,
  Report,
  StoredRequest,
  Transition,
} from '../../ports/requestStore.ts';
import { type Counters, prepareCounters } from './counters.ts';
import { type NewRequest, prepareCreate } from './createWrite.ts';
import {
  createReportAll,
  type ExpiredStep,
  type ExpiryStep,
  prepareRelease,
  prepareReleaseStep,
  prepareReport,
  prepareRetention,
  type ReleasedStep,
  type ReleaseStep,
} from './endWrites.ts';
import { type Batch, bytesOf, inBatch, prepareTransition, type QuotedTables } from './tables.ts';

/** A time before every claim. */
const NEVER = -1;

/** Takes lapsed claims over, the relayer's own ones after one more lease. */
function prepareTakeOver(database: DatabaseSync, t: QuotedTables, counters: Counters) {
  // Columns compare addresses without regard to case.
  const lapsed = `
    request_id = ? AND status = '${MOVES.takeOver.from}' AND call_id <> ?
    AND claimed_at <= CASE WHEN claimed_by = ? THEN ? ELSE ? END`;
  const selectOwner = database.prepare(`SELECT claimed_by FROM ${t.requests} WHERE ${lapsed}`);
  const update = database.prepare(`
    UPDATE ${t.requests} SET claimed_by = ?, claimed_at = ?, updated_at = ?, call_id = ?, moved_seq = ?
    WHERE request_id = ?`);
  /** @returns who held a claim that has lapsed; undefined where it may not be taken over */
  function findOwner({ requestId, claimId, relayer, leaseExpiredAt, ownLeaseExpiredAt }: Claim): string | undefined {
    if (leaseExpiredAt === undefined) return undefined;
    const limits = [relayer, ownLeaseExpiredAt ?? leaseExpiredAt, leaseExpiredAt];
    const owner = selectOwner.get(requestId, claimId, ...limits)?.claimed_by;
    return owner === undefined ? undefined : String(owner);
  }
  function takeOver({ requestId, relayer, claimId, now }: Claim): void {
    update.run(relayer, now, now, claimId, counters.nextMove(), requestId);
  }
  return { findOwner, takeOver };
}

/** Prepares single claims. */
function prepareClaim(database: DatabaseSync, t: QuotedTables, counters: Counters) {
  const [claimed] = MOVES.claim.to;
  const update = database.prepare(`
    UPDATE ${t.requests}
    SET status = '${claimed}', claimed_by = ?, claimed_at = ?, updated_at = ?, call_id = ?, moved_seq = ?
    WHERE request_id = ? AND status = '${MOVES.claim.from}'`);
  const { findOwner, takeOver } = prepareTakeOver(database, t, counters);
  const transitionOf = prepareTransition(database, t);
  /** Claims what is pending. */
  function claimPending({ requestId, relayer, claimId, now }: Claim): boolean {
    return update.run(relayer, now, now, claimId, counters.nextMove(), requestId).changes === 1;
  }
  /** Reads the record after a claim, and counts a claim that was made. */
  function madeClaim({ requestId, relayer, claimId, now }: Claim, oldOwner?: string): Transition {
    const transition = transitionOf(requestId, claimId);
    if (transition.outcome === 'missing') return transition;
    const { chainName } = transition.record;
    const from = oldOwner === undefined ? MOVES.claim.from : MOVES.takeOver.from;
    counters.moved({ chainName, from, to: claimed, at: now, newOwner: relayer, ...(oldOwner && { oldOwner }) });
    return transition;
  }
  /** @param owner - whose claim it is that has lapsed, if it may be taken over */
  function claimLapsed(one: Claim, { owner, isFull }: { owner: string | undefined; isFull: boolean }): Transition {
    const isOwn = owner?.toLowerCase() === one.relayer.toLowerCase();
    if (owner === undefined || (isFull && !isOwn)) return transitionOf(one.requestId, one.claimId);
    takeOver(one);
    return isOwn ? transitionOf(one.requestId, one.claimId) : madeClaim(one, owner);
  }
  return function claim(one: Claim): ClaimTransition {
    const { relayer, maxOpenClaims = Number.POSITIVE_INFINITY } = one;
    const isFull = counters.heldBy(relayer) >= maxOpenClaims;
    if (!isFull && claimPending(one)) return madeClaim(one);
    const owner = findOwner(one);
    const transition = claimLapsed(one, { owner, isFull });
    if (transition.outcome !== 'conflict') return transition;
    const wasToBeHad = owner !== undefined || transition.record.status === MOVES.claim.from;
    if (isFull && wasToBeHad) return { outcome: 'full', record: transition.record };
    counters.lost(relayer);
    return transition;
  };
}

/** Claims the requests of a batch; those that the relayer holds are renewed. */
function prepareClaimAll(
  database: DatabaseSync,
  t: QuotedTables,
  { counters, claim }: { readonly counters: Counters; readonly claim: (claim: Claim) => ClaimTransition },
) {
  const selectStatus = database.prepare(`SELECT status FROM ${t.requests} WHERE request_id = ?`);
  const renew = database.prepare(`
    UPDATE ${t.requests} SET claimed_at = ?, updated_at = ?, call_id = ?, moved_seq = ?
    WHERE request_id = ? AND status = '${MOVES.renew.from}' AND claimed_by = ? AND claimed_at > ? AND call_id <> ?`);
  function claimOrRenew(one: Claim): ClaimTransition {
    const { requestId, relayer, claimId, now, leaseExpiredAt = NEVER } = one;
    renew.run(now, now, claimId, counters.nextMove(), requestId, relayer, leaseExpiredAt, claimId);
    return claim(one);
  }
  function leave({ requestId }: Claim): BatchTransition {
    const status = selectStatus.get(requestId)?.status;
    // The column holds what this driver writes.
    return status === undefined ? { outcome: 'missing' } : { outcome: 'conflict', status: status as RequestStatus };
  }
  return function claimAll({ moves, maxParamsBytes }: Batch<Claim>): readonly BatchTransition[] {
    let bytes = 0;
    return moves.map((one) => {
      if (bytes >= maxParamsBytes) return leave(one);
      const transition = claimOrRenew(one);
      if (transition.outcome === 'moved') bytes += bytesOf(transition.record);
      return inBatch(transition);
    });
  };
}

/** Claims the oldest pending requests of a chain. */
function prepareClaimOldest(database: DatabaseSync, t: QuotedTables, claim: (claim: Claim) => ClaimTransition) {
  const selectOldest = database.prepare(`
    SELECT request_id FROM ${t.requests} WHERE chain_name = ? AND status = '${MOVES.claim.from}'
    ORDER BY created_at, request_id LIMIT ?`);
  return function claimOldest({ chainName, limit, maxParamsBytes, ...rest }: OldestClaim): readonly StoredRequest[] {
    const won: StoredRequest[] = [];
    let bytes = 0;
    for (const { request_id } of selectOldest.all(chainName, limit)) {
      if (bytes >= maxParamsBytes) break;
      const transition = claim({ requestId: String(request_id), ...rest });
      if (transition.outcome !== 'moved') break;
      won.push(transition.record);
      bytes += bytesOf(transition.record);
    }
    return won;
  };
}

/** The writes of requests, with what each takes and returns. */
export interface RequestWrites {
  create: { readonly input: NewRequest; readonly result: Creation };
  claim: { readonly input: Claim; readonly result: ClaimTransition };
  claimAll: { readonly input: Batch<Claim>; readonly result: readonly BatchTransition[] };
  claimOldest: { readonly input: OldestClaim; readonly result: readonly StoredRequest[] };
  report: { readonly input: Report; readonly result: Transition };
  reportAll: { readonly input: Batch<Report>; readonly result: readonly BatchTransition[] };
  release: { readonly input: Release; readonly result: Transition };
  releaseStep: { readonly input: ReleaseStep; readonly result: ReleasedStep };
  expireStep: { readonly input: ExpiryStep; readonly result: ExpiredStep };
  vacuumStep: { readonly input: null; readonly result: number };
}

/**
 * Prepares the moves of requests on one connection; their conditions come from the table of moves. Call them inside a transaction, and
 * `counters.save` before its commit, or `counters.forget` when it fails.
 */
export function prepareRequestWrites(database: DatabaseSync, tables: QuotedTables) {
  const counters = prepareCounters(database, tables);
  const claim = prepareClaim(database, tables, counters);
  const report = prepareReport(database, tables, counters);
  const writes = {
    create: prepareCreate(database, tables, counters),
    claim,
    claimAll: prepareClaimAll(database, tables, { counters, claim }),
    claimOldest: prepareClaimOldest(database, tables, claim),
    report,
    reportAll: createReportAll(report),
    release: prepareRelease(database, tables, counters),
    releaseStep: prepareReleaseStep(database, tables, counters),
    ...prepareRetention(database, tables, counters),
  };
  return { writes, counters };
}
