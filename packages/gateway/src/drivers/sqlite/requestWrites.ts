import type { DatabaseSync } from 'node:sqlite';
import { isStatusMove, REQUEST_MOVES as MOVES, type RequestStatus } from '@prism-gateway/protocol/states';
import type {
  BatchBounds,
  BatchTransition,
  Claim,
  OldestClaim,
  Release,
  Report,
  StoredRequest,
  Transition,
} from '../../ports/requestStore.ts';
import type { QuotedTables } from './tables.ts';
import { type RequestRow, requestOfRow, selectRequests } from './tables.ts';

/** Moves of one call. */
interface Batch<Move> extends BatchBounds {
  readonly moves: readonly Move[];
}

/** The writes of requests, with what each takes and returns. */
export interface RequestWrites {
  create: { readonly input: StoredRequest; readonly result: null };
  claim: { readonly input: Claim; readonly result: Transition };
  claimAll: { readonly input: Batch<Claim>; readonly result: readonly BatchTransition[] };
  claimOldest: { readonly input: OldestClaim; readonly result: readonly StoredRequest[] };
  report: { readonly input: Report; readonly result: Transition };
  reportAll: { readonly input: Batch<Report>; readonly result: readonly BatchTransition[] };
  release: { readonly input: Release; readonly result: Transition };
}

/** Counts a record that is new (from null) or has moved. @throws Error for a move that the table of moves does not have */
type CountMove = (from: RequestStatus | null, to: RequestStatus) => void;

function prepareCounts(database: DatabaseSync, t: QuotedTables) {
  const deltas = new Map<RequestStatus, number>();
  const add = (status: RequestStatus, by: number) => deltas.set(status, (deltas.get(status) ?? 0) + by);
  const upsert = database.prepare(
    `INSERT INTO ${t.counts} VALUES (?, ?) ON CONFLICT DO UPDATE SET records = records + excluded.records`,
  );
  const move: CountMove = (from, to) => {
    if (from !== null && !isStatusMove(from, to)) throw new Error(`A request may not move from ${from} to ${to}.`);
    if (from !== null) add(from, -1);
    add(to, 1);
  };
  return {
    move,
    save() {
      for (const [status, by] of deltas) if (by !== 0) upsert.run(status, by);
      deltas.clear();
    },
    forget: () => deltas.clear(),
  };
}

function prepareCreate(database: DatabaseSync, t: QuotedTables, move: CountMove) {
  const insert = database.prepare(`
    INSERT INTO ${t.requests} (request_id, chain_name, action, signer, status, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (request_id) DO NOTHING`);
  const insertParams = database.prepare(`INSERT INTO ${t.params} VALUES (?, ?)`);
  return function create(r: StoredRequest): null {
    const { changes, lastInsertRowid } = insert.run(
      r.requestId,
      r.chainName,
      r.action,
      r.signer,
      r.status,
      r.createdAt,
      r.updatedAt,
    );
    if (changes === 0) return null;
    insertParams.run(lastInsertRowid, r.paramsJson);
    move(null, r.status);
    return null;
  };
}

/**
 * Reads the record after a conditional write. The id of the call that moved it last tells whose move it was: this call's,
 * now or at an earlier try, or a rival's.
 */
function prepareTransition(database: DatabaseSync, t: QuotedTables) {
  const select = database.prepare(`${selectRequests(t)} WHERE r.request_id = ?`);
  select.setReturnArrays(true);
  return function transitionOf(requestId: string, callId: string): Transition {
    // The columns are those of RequestRow.
    const row = select.get(requestId) as unknown as RequestRow | undefined;
    if (row === undefined) return { outcome: 'missing' };
    return { outcome: row[12] === callId ? 'moved' : 'conflict', record: requestOfRow(row) };
  };
}

function prepareClaim(database: DatabaseSync, t: QuotedTables, move: CountMove) {
  const [claimed] = MOVES.claim.to;
  const set = 'claimed_by = ?, claimed_at = ?, updated_at = ?, call_id = ?';
  const update = database.prepare(`
    UPDATE ${t.requests} SET status = '${claimed}', ${set} WHERE request_id = ? AND status = '${MOVES.claim.from}'`);
  // Columns compare addresses without regard to case.
  const takeOver = database.prepare(`
    UPDATE ${t.requests} SET ${set}
    WHERE request_id = ? AND status = '${MOVES.takeOver.from}' AND call_id <> ?
      AND claimed_at <= CASE WHEN claimed_by = ? THEN ? ELSE ? END`);
  const transitionOf = prepareTransition(database, t);
  return function claim({ requestId, relayer, claimId, now, leaseExpiredAt, ownLeaseExpiredAt }: Claim): Transition {
    if (update.run(relayer, now, now, claimId, requestId).changes === 1) move(MOVES.claim.from, claimed);
    else if (leaseExpiredAt !== undefined) {
      const limits = [relayer, ownLeaseExpiredAt ?? leaseExpiredAt, leaseExpiredAt];
      takeOver.run(relayer, now, now, claimId, requestId, claimId, ...limits);
    }
    return transitionOf(requestId, claimId);
  };
}

const bytesOf = ({ paramsJson }: StoredRequest) => Buffer.byteLength(paramsJson);

function inBatch(transition: Transition): BatchTransition {
  return transition.outcome === 'conflict' ? { outcome: 'conflict', status: transition.record.status } : transition;
}

/** Claims in batches: with renewals, and of the oldest. */
function prepareBatchClaims(database: DatabaseSync, t: QuotedTables, claim: (claim: Claim) => Transition) {
  const selectStatus = database.prepare(`SELECT status FROM ${t.requests} WHERE request_id = ?`);
  const renew = database.prepare(`
    UPDATE ${t.requests} SET claimed_at = ?, updated_at = ?, call_id = ?
    WHERE request_id = ? AND status = '${MOVES.renew.from}' AND claimed_by = ? AND claimed_at > ? AND call_id <> ?`);
  const selectOldest = database.prepare(`
    SELECT request_id FROM ${t.requests} WHERE chain_name = ? AND status = '${MOVES.claim.from}'
    ORDER BY created_at, request_id LIMIT ?`);
  function claimOrRenew(one: Claim): Transition {
    const { requestId, relayer, claimId, now, leaseExpiredAt = -1 } = one;
    renew.run(now, now, claimId, requestId, relayer, leaseExpiredAt, claimId);
    return claim(one);
  }
  function leave({ requestId }: Claim): BatchTransition {
    const status = selectStatus.get(requestId)?.status;
    // The column holds what this driver writes.
    return status === undefined ? { outcome: 'missing' } : { outcome: 'conflict', status: status as RequestStatus };
  }
  return {
    claimAll({ moves, maxParamsBytes }: Batch<Claim>): readonly BatchTransition[] {
      let bytes = 0;
      return moves.map((one) => {
        if (bytes >= maxParamsBytes) return leave(one);
        const transition = claimOrRenew(one);
        if (transition.outcome === 'moved') bytes += bytesOf(transition.record);
        return inBatch(transition);
      });
    },
    claimOldest({ chainName, limit, maxParamsBytes, ...rest }: OldestClaim): readonly StoredRequest[] {
      const won: StoredRequest[] = [];
      let bytes = 0;
      for (const { request_id } of selectOldest.all(chainName, limit)) {
        if (bytes >= maxParamsBytes) break;
        const transition = claim({ requestId: String(request_id), ...rest });
        if (transition.outcome !== 'moved') continue;
        won.push(transition.record);
        bytes += bytesOf(transition.record);
      }
      return won;
    },
  };
}

/** Makes every report; records that have no more room in the answer are left out of it. */
function createReportAll(report: (report: Report) => Transition) {
  return function reportAll({ moves, maxParamsBytes }: Batch<Report>): readonly BatchTransition[] {
    let bytes = 0;
    return moves.map((one) => {
      const transition = report(one);
      if (transition.outcome !== 'moved') return inBatch(transition);
      if (bytes >= maxParamsBytes) return { outcome: 'moved' };
      bytes += bytesOf(transition.record);
      return transition;
    });
  };
}

function prepareReport(database: DatabaseSync, t: QuotedTables, move: CountMove) {
  const update = database.prepare(`
    UPDATE ${t.requests} SET status = ?, tx_hash = ?, error_message = ?, updated_at = ?, call_id = ?
    WHERE request_id = ? AND status = '${MOVES.report.from}' AND claimed_by = ?`);
  const transitionOf = prepareTransition(database, t);
  return function report({ requestId, relayer, reportId, now, outcome }: Report): Transition {
    const txHash = outcome.status === 'success' ? outcome.txHash : null;
    const errorMessage = outcome.status === 'failed' ? outcome.errorMessage : null;
    const { changes } = update.run(outcome.status, txHash, errorMessage, now, reportId, requestId, relayer);
    if (changes === 1) move(MOVES.report.from, outcome.status);
    return transitionOf(requestId, reportId);
  };
}

function prepareRelease(database: DatabaseSync, t: QuotedTables, move: CountMove) {
  const [released] = MOVES.release.to;
  const update = database.prepare(`
    UPDATE ${t.requests} SET status = '${released}', claimed_by = NULL, claimed_at = NULL, updated_at = ?, call_id = ?
    WHERE request_id = ? AND status = '${MOVES.release.from}' AND claimed_by = ?`);
  const transitionOf = prepareTransition(database, t);
  return function release({ requestId, relayer, releaseId, now }: Release): Transition {
    if (update.run(now, releaseId, requestId, relayer).changes === 1) move(MOVES.release.from, released);
    return transitionOf(requestId, releaseId);
  };
}

/**
 * Prepares the moves of requests on one connection; their conditions come from the table of moves. Call them inside a transaction, and
 * `saveCounts` before its commit, or `forgetCounts` when it fails.
 */
export function prepareRequestWrites(database: DatabaseSync, tables: QuotedTables) {
  const counts = prepareCounts(database, tables);
  const claim = prepareClaim(database, tables, counts.move);
  const report = prepareReport(database, tables, counts.move);
  return {
    create: prepareCreate(database, tables, counts.move),
    claim,
    ...prepareBatchClaims(database, tables, claim),
    report,
    reportAll: createReportAll(report),
    release: prepareRelease(database, tables, counts.move),
    saveCounts: counts.save,
    forgetCounts: counts.forget,
  };
}
