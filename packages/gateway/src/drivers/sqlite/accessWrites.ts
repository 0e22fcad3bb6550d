import type { DatabaseSync } from 'node:sqlite';
import type { RequestStatus } from '@prism-gateway/protocol/states';
import type { NotedAct, Removal } from '../../ports/adminStore.ts';
import type { WindowCounts } from '../../ports/rateLimitStore.ts';
import type { RelayerRecord } from '../../ports/relayerStore.ts';
import type { Counters } from './counters.ts';
import { type QuotedTables, type RelayerRow, relayerOfRow } from './tables.ts';

/** Acts that are kept. */
const MOST_ACTS = 10_000;

/** The writes of administrators, with what each takes and returns. */
export interface AdminWrites {
  removeRequest: { readonly input: string; readonly result: Removal };
  noteAct: { readonly input: NotedAct; readonly result: number };
  dropAct: { readonly input: number; readonly result: null };
}

/** Prepares the writes of administrators on one connection. */
export function prepareAdminWrites(database: DatabaseSync, t: QuotedTables, counters: Counters) {
  const select = database.prepare(`SELECT seq, chain_name, status, updated_at FROM ${t.requests} WHERE request_id = ?`);
  const removeRecord = database.prepare(`DELETE FROM ${t.requests} WHERE seq = ?`);
  const removeParams = database.prepare(`DELETE FROM ${t.params} WHERE seq = ?`);
  const insertAct = database.prepare(`INSERT INTO ${t.audit} (at, act, key_id, target, reason) VALUES (?, ?, ?, ?, ?)`);
  const sweepActs = database.prepare(`DELETE FROM ${t.audit} WHERE number <= ?`);
  const deleteAct = database.prepare(`DELETE FROM ${t.audit} WHERE number = ?`);
  return {
    noteAct({ at, act, keyId, target, reason }: NotedAct): number {
      const number = Number(insertAct.run(at, act, keyId, target, reason ?? null).lastInsertRowid);
      sweepActs.run(number - MOST_ACTS);
      return number;
    },
    dropAct(number: number): null {
      deleteAct.run(number);
      return null;
    },
    removeRequest(requestId: string): Removal {
      const row = select.get(requestId);
      if (row === undefined) return 'missing';
      if (row.status === 'processing') return 'claimed';
      removeRecord.run(Number(row.seq));
      removeParams.run(Number(row.seq));
      // Other processes look at what is waited for when the number has risen.
      counters.nextMove();
      // The column holds what this driver writes.
      const from = row.status as RequestStatus;
      counters.moved({ chainName: String(row.chain_name), from, to: null, at: Number(row.updated_at) });
      return 'removed';
    },
  };
}

/** Hits of one client in one window that the database does not know yet. */
export interface UnsentHits {
  readonly key: string;
  readonly window: number;
  readonly hits: number;
}

/** The writes of the whitelist and of the limits, with what each takes and returns. */
export interface AccessWrites {
  putRelayer: {
    readonly input: { readonly address: string; readonly label?: string; readonly now: number };
    readonly result: RelayerRecord;
  };
  removeRelayer: { readonly input: string; readonly result: null };
  /** With a reason: suspends; without one: resumes. */
  suspendRelayer: {
    readonly input: { readonly address: string; readonly reason?: string; readonly now: number };
    readonly result: RelayerRecord | undefined;
  };
  countHits: { readonly input: readonly UnsentHits[]; readonly result: readonly WindowCounts[] };
}

function prepareRelayers(database: DatabaseSync, t: QuotedTables) {
  const upsert = database.prepare(`
    INSERT INTO ${t.relayers} (address, label, created_at, updated_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET address = excluded.address, label = excluded.label, updated_at = excluded.updated_at
    RETURNING *`);
  const remove = database.prepare(`DELETE FROM ${t.relayers} WHERE address = ?`);
  const suspend = database.prepare(`
    UPDATE ${t.relayers} SET suspended_at = coalesce(suspended_at, ?1), suspend_reason = ?2, updated_at = ?1
    WHERE address = ?3`);
  const resume = database.prepare(`
    UPDATE ${t.relayers} SET suspended_at = NULL, suspend_reason = NULL, updated_at = ?
    WHERE address = ? AND suspended_at IS NOT NULL`);
  const select = database.prepare(`SELECT * FROM ${t.relayers} WHERE address = ?`);
  return {
    // RETURNING * gives the columns of RelayerRow.
    putRelayer: ({ address, label, now }: AccessWrites['putRelayer']['input']) =>
      relayerOfRow(upsert.get(address, label ?? null, now, now) as unknown as RelayerRow),
    removeRelayer(address: string) {
      remove.run(address);
      return null;
    },
    suspendRelayer({ address, reason, now }: AccessWrites['suspendRelayer']['input']) {
      if (reason !== undefined) suspend.run(now, reason, address);
      else resume.run(now, address);
      const row = select.get(address) as unknown as RelayerRow | undefined;
      return row && relayerOfRow(row);
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

/** Prepares the writes of the whitelist and of the limits on one connection. */
export function prepareAccessWrites(database: DatabaseSync, tables: QuotedTables) {
  return { ...prepareRelayers(database, tables), countHits: prepareCountHits(database, tables) };
}
