import type { DatabaseSync } from 'node:sqlite';
import type { RequestStatus } from '@prism-gateway/protocol/states';
import type { NotedAct, Removal } from '../../ports/adminStore.ts';
import type { Counters } from './counters.ts';
import type { QuotedTables } from './tables.ts';

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
