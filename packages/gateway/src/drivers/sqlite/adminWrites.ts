import type { DatabaseSync } from 'node:sqlite';
import type { Removal } from '../../ports/adminStore.ts';
import type { QuotedTables } from './tables.ts';

/** The writes of administrators, with what each takes and returns. */
export interface AdminWrites {
  removeRequest: { readonly input: string; readonly result: Removal };
}

/** Prepares the writes of administrators on one connection. */
export function prepareAdminWrites(database: DatabaseSync, t: QuotedTables) {
  const select = database.prepare(`SELECT seq, status FROM ${t.requests} WHERE request_id = ?`);
  const removeRecord = database.prepare(`DELETE FROM ${t.requests} WHERE seq = ?`);
  const removeParams = database.prepare(`DELETE FROM ${t.params} WHERE seq = ?`);
  const uncount = database.prepare(`UPDATE ${t.counts} SET records = records - 1 WHERE status = ?`);
  return {
    removeRequest(requestId: string): Removal {
      const row = select.get(requestId);
      if (row === undefined) return 'missing';
      if (row.status === 'processing') return 'claimed';
      removeRecord.run(Number(row.seq));
      removeParams.run(Number(row.seq));
      uncount.run(String(row.status));
      return 'removed';
    },
  };
}
