import type { DatabaseSync } from 'node:sqlite';
import type { RequestStatus } from '@prism-gateway/protocol';
import type { Claim, Report, StoredRequest, Transition } from '../../ports/requestStore.ts';
import { type RelayerRow, type RequestRow, relayerOfRow, requestOfRow, selectRequests } from './rows.ts';
import type { QuotedTables } from './tables.ts';
import type { UnsentHits, WriteKind, Writes } from './writes.ts';

/** Each write as a function; call them inside a transaction, and `saveCounts` before its commit. */
export type WriteStatements = { readonly [K in WriteKind]: (input: Writes[K]['input']) => Writes[K]['result'] };

type CountMove = (from: RequestStatus | null, to: RequestStatus) => void;

function prepareCounts(database: DatabaseSync, t: QuotedTables) {
  const deltas = new Map<RequestStatus, number>();
  const add = (status: RequestStatus, by: number) => deltas.set(status, (deltas.get(status) ?? 0) + by);
  const upsert = database.prepare(
    `INSERT INTO ${t.counts} VALUES (?, ?) ON CONFLICT DO UPDATE SET records = records + excluded.records`,
  );
  const move: CountMove = (from, to) => {
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
  const update = database.prepare(`
    UPDATE ${t.requests} SET status = 'processing', claimed_by = ?, claimed_at = ?, updated_at = ?, call_id = ?
    WHERE request_id = ? AND status = 'pending'`);
  const takeOver = database.prepare(`
    UPDATE ${t.requests} SET claimed_by = ?, claimed_at = ?, updated_at = ?, call_id = ?
    WHERE request_id = ? AND status = 'processing' AND claimed_at <= ? AND call_id <> ?`);
  const transitionOf = prepareTransition(database, t);
  return function claim({ requestId, relayer, claimId, now, leaseExpiredAt }: Claim): Transition {
    if (update.run(relayer, now, now, claimId, requestId).changes === 1) move('pending', 'processing');
    else if (leaseExpiredAt !== undefined) {
      takeOver.run(relayer, now, now, claimId, requestId, leaseExpiredAt, claimId);
    }
    return transitionOf(requestId, claimId);
  };
}

function prepareReport(database: DatabaseSync, t: QuotedTables, move: CountMove) {
  const update = database.prepare(`
    UPDATE ${t.requests} SET status = ?, tx_hash = ?, error_message = ?, updated_at = ?, call_id = ?
    WHERE request_id = ? AND status = 'processing' AND claimed_by = ?`);
  const transitionOf = prepareTransition(database, t);
  return function report({ requestId, relayer, reportId, now, outcome }: Report): Transition {
    const txHash = outcome.status === 'success' ? outcome.txHash : null;
    const errorMessage = outcome.status === 'failed' ? outcome.errorMessage : null;
    const { changes } = update.run(outcome.status, txHash, errorMessage, now, reportId, requestId, relayer);
    if (changes === 1) move('processing', outcome.status);
    return transitionOf(requestId, reportId);
  };
}

function prepareRelayers(database: DatabaseSync, t: QuotedTables) {
  const upsert = database.prepare(`
    INSERT INTO ${t.relayers} VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET address = excluded.address, label = excluded.label, updated_at = excluded.updated_at
    RETURNING *`);
  const remove = database.prepare(`DELETE FROM ${t.relayers} WHERE address = ?`);
  return {
    // RETURNING * gives the columns of RelayerRow.
    putRelayer: ({ address, label, now }: Writes['putRelayer']['input']) =>
      relayerOfRow(upsert.get(address, label ?? null, now, now) as unknown as RelayerRow),
    removeRelayer(address: string) {
      remove.run(address);
      return null;
    },
  };
}

function prepareCountHits(database: DatabaseSync, t: QuotedTables) {
  const upsert = database.prepare(`
    INSERT INTO ${t.rateLimits} VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET hits = hits + excluded.hits RETURNING hits`);
  const previous = database.prepare(`SELECT hits FROM ${t.rateLimits} WHERE key = ? AND window = ?`);
  // Later windows than the next are those of a clock that was ahead and has been set back.
  const sweep = database.prepare(`DELETE FROM ${t.rateLimits} WHERE window NOT BETWEEN ? AND ?`);
  let sweptAt = 0;
  return function countHits(unsent: readonly UnsentHits[]) {
    // Without hits there is no telling the time.
    const newest = unsent.reduce((latest, { window }) => Math.max(latest, window), 0) || sweptAt;
    if (newest !== sweptAt) {
      sweep.run(newest - 1, newest + 1);
      sweptAt = newest;
    }
    return unsent.map(({ key, window, hits }) => ({
      current: Number(upsert.get(key, window, hits)?.hits ?? 0),
      previous: Number(previous.get(key, window - 1)?.hits ?? 0),
    }));
  };
}

/** Prepares every write on one connection. */
export function prepareWrites(database: DatabaseSync, tables: QuotedTables) {
  const counts = prepareCounts(database, tables);
  const writes: WriteStatements = {
    create: prepareCreate(database, tables, counts.move),
    claim: prepareClaim(database, tables, counts.move),
    report: prepareReport(database, tables, counts.move),
    ...prepareRelayers(database, tables),
    countHits: prepareCountHits(database, tables),
  };
  return { writes, saveCounts: counts.save, forgetCounts: counts.forget };
}
