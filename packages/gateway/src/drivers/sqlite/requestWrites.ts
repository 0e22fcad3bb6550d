import type { DatabaseSync } from 'node:sqlite';
import { isStatusMove, REQUEST_MOVES as MOVES, type RequestStatus } from '@prism-gateway/protocol';
import type { Claim, Report, StoredRequest, Transition } from '../../ports/requestStore.ts';
import type { QuotedTables } from './tables.ts';
import { type RequestRow, requestOfRow, selectRequests } from './tables.ts';

/** The writes of requests, with what each takes and returns. */
export interface RequestWrites {
  create: { readonly input: StoredRequest; readonly result: null };
  claim: { readonly input: Claim; readonly result: Transition };
  report: { readonly input: Report; readonly result: Transition };
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
  const update = database.prepare(`
    UPDATE ${t.requests} SET status = '${claimed}', claimed_by = ?, claimed_at = ?, updated_at = ?, call_id = ?
    WHERE request_id = ? AND status = '${MOVES.claim.from}'`);
  const takeOver = database.prepare(`
    UPDATE ${t.requests} SET claimed_by = ?, claimed_at = ?, updated_at = ?, call_id = ?
    WHERE request_id = ? AND status = '${MOVES.takeOver.from}' AND claimed_at <= ? AND call_id <> ?`);
  const transitionOf = prepareTransition(database, t);
  return function claim({ requestId, relayer, claimId, now, leaseExpiredAt }: Claim): Transition {
    if (update.run(relayer, now, now, claimId, requestId).changes === 1) move(MOVES.claim.from, claimed);
    else if (leaseExpiredAt !== undefined) {
      takeOver.run(relayer, now, now, claimId, requestId, leaseExpiredAt, claimId);
    }
    return transitionOf(requestId, claimId);
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

/**
 * Prepares the moves of requests on one connection; their conditions come from the table of moves. Call them inside a transaction, and
 * `saveCounts` before its commit, or `forgetCounts` when it fails.
 */
export function prepareRequestWrites(database: DatabaseSync, tables: QuotedTables) {
  const counts = prepareCounts(database, tables);
  return {
    create: prepareCreate(database, tables, counts.move),
    claim: prepareClaim(database, tables, counts.move),
    report: prepareReport(database, tables, counts.move),
    saveCounts: counts.save,
    forgetCounts: counts.forget,
  };
}
