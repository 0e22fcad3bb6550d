import type { DatabaseSync } from 'node:sqlite';
import { REQUEST_MOVES as MOVES } from '@prism-gateway/protocol/states';
import type {
  BatchTransition,
  Claim,
  ClaimTransition,
  Creation,
  Release,
  Report,
  Transition,
} from '../../ports/requestStore.ts';
import type { ExpiredStep, ExpiryStep } from '../sql/createRetention.ts';
import { inBatch } from '../sql/tables.ts';
import { type Counters, prepareCounters } from './counters.ts';
import { type NewRequest, prepareCreate } from './createWrite.ts';
import {
  createReportAll,
  prepareRelease,
  prepareReleaseStep,
  prepareReport,
  prepareRetention,
  type ReleasedStep,
  type ReleaseStep,
} from './endWrites.ts';
import { prepareTransition, type QuotedTables, type ReadTransition, selectWanted } from './tables.ts';

/** A time before every claim. */
const NEVER = -1;
/** A time after every claim. */
const EVER = Number.MAX_SAFE_INTEGER;

/** Takes lapsed claims over, the relayer's own ones after one more lease. */
function prepareTakeOver(database: DatabaseSync, t: QuotedTables, counters: Counters) {
  // Columns compare addresses without regard to case.
  const lapsed = `
    request_id = ? AND status = '${MOVES.takeOver.from}' AND call_id <> ?
    AND claimed_at <= CASE WHEN claimed_by = ? THEN ? ELSE ? END`;
  const selectOwner = database.prepare(`SELECT claimed_by FROM ${t.requests} WHERE ${lapsed}`);
  const update = database.prepare(`
    UPDATE ${t.requests} SET claimed_by = ?, held_by = ?, claimed_at = ?, held_since = ?, updated_at = ?, call_id = ?, moved_seq = ?
    WHERE request_id = ?`);
  /** @returns who held a claim that has lapsed; undefined where it may not be taken over */
  function findOwner({ requestId, claimId, relayer, leaseExpiredAt, ownLeaseExpiredAt }: Claim): string | undefined {
    if (leaseExpiredAt === undefined) return undefined;
    const limits = [relayer, ownLeaseExpiredAt ?? leaseExpiredAt, leaseExpiredAt];
    const owner = selectOwner.get(requestId, claimId, ...limits)?.claimed_by;
    return owner === undefined ? undefined : String(owner);
  }
  function takeOver({ requestId, relayer, claimId, now }: Claim): void {
    update.run(relayer, relayer, now, now, now, claimId, counters.nextMove(), requestId);
  }
  return { findOwner, takeOver };
}

/** Prepares single claims. */
function prepareClaim(
  database: DatabaseSync,
  t: QuotedTables,
  { counters, transitionOf }: { readonly counters: Counters; readonly transitionOf: ReadTransition },
) {
  const [claimed] = MOVES.claim.to;
  const update = database.prepare(`
    UPDATE ${t.requests}
    SET status = '${claimed}', claimed_by = ?1, claimed_at = ?2, call_id = ?3, moved_seq = ?4,
      held_since = CASE WHEN held_by = ?1 AND updated_at > ?6 THEN held_since ELSE ?2 END, held_by = ?1, updated_at = ?2
    WHERE request_id = ?5 AND status = '${MOVES.claim.from}'
      AND NOT (coalesce(held_by = ?1, 0) AND updated_at > ?6 AND held_since <= ?7)`);
  const { findOwner, takeOver } = prepareTakeOver(database, t, counters);
  /** Claims what is pending; a release does not break a relayer's hold. */
  function claimPending({ requestId, relayer, claimId, now, leaseExpiredAt = EVER, firstClaimedAfter }: Claim) {
    const bounds = [leaseExpiredAt, firstClaimedAfter ?? NEVER];
    return update.run(relayer, now, claimId, counters.nextMove(), requestId, ...bounds).changes === 1;
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
  const renew = database.prepare(`
    UPDATE ${t.requests} SET claimed_at = ?, updated_at = ?, call_id = ?, moved_seq = ?
    WHERE request_id = ? AND status = '${MOVES.renew.from}' AND claimed_by = ? AND claimed_at > ? AND held_since > ? AND call_id <> ?`);
  function claimOrRenew(one: Claim): ClaimTransition {
    const { requestId, relayer, claimId, now, leaseExpiredAt = NEVER, firstClaimedAfter = NEVER } = one;
    const bounds = [leaseExpiredAt, firstClaimedAfter];
    renew.run(now, now, claimId, counters.nextMove(), requestId, relayer, ...bounds, claimId);
    return claim(one);
  }
  return (claims: readonly Claim[]): readonly BatchTransition[] => claims.map((one) => inBatch(claimOrRenew(one)));
}

/** The writes of requests, with what each takes and returns. */
export interface RequestWrites {
  create: { readonly input: NewRequest; readonly result: Creation };
  claim: { readonly input: Claim; readonly result: ClaimTransition };
  claimAll: { readonly input: readonly Claim[]; readonly result: readonly BatchTransition[] };
  report: { readonly input: Report; readonly result: Transition };
  reportAll: { readonly input: readonly Report[]; readonly result: readonly BatchTransition[] };
  release: { readonly input: Release; readonly result: Transition };
  reopen: { readonly input: Release; readonly result: Transition };
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
  const whole = { counters, transitionOf: prepareTransition(database, tables) };
  // A batch answers without params, and a hundred of them may be large.
  const heads = { counters, transitionOf: prepareTransition(database, tables, selectWanted(tables, 'FALSE')) };
  const writes = {
    create: prepareCreate(database, tables, counters),
    claim: prepareClaim(database, tables, whole),
    claimAll: prepareClaimAll(database, tables, { counters, claim: prepareClaim(database, tables, heads) }),
    report: prepareReport(database, tables, whole),
    reportAll: createReportAll(prepareReport(database, tables, heads)),
    release: prepareRelease(database, tables, { counters, move: 'release' }),
    reopen: prepareRelease(database, tables, { counters, move: 'reopen' }),
    releaseStep: prepareReleaseStep(database, tables, counters),
    ...prepareRetention(database, tables, counters),
  };
  return { writes, counters };
}
