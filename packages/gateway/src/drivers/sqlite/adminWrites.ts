import type { DatabaseSync } from 'node:sqlite';
import type { RequestStatus } from '@prism-gateway/protocol/states';
import type { Removal } from '../../ports/adminStore.ts';
import type { Counters } from './counters.ts';
import type { QuotedTables } from './tables.ts';

/** The writes of administrators, with what each takes and returns. */
export interface AdminWrites {
  removeRequest: { readonly input: string; readonly result: Removal };
}

/** Prepares the writes of administrators on one connection. */
export function prepareAdminWrites(database: DatabaseSync, t: QuotedTables, counters: Counters) {
  const select = database.prepare(`SELECT seq, chain_name, status, updated_at FROM ${t.requests} WHERE request_id = ?`);
  const removeRecord = database.prepare(`DELETE FROM ${t.requests} WHERE seq = ?`);
  const removeParams = database.prepare(`DELETE FROM ${t.params} WHERE seq = ?`);
  return {
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
