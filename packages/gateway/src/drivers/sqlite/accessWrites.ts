import type { DatabaseSync } from 'node:sqlite';
import type { RequestStatus } from '@prism-gateway/protocol/states';
import type { Removal } from '../../ports/adminStore.ts';
import type { WindowCounts } from '../../ports/rateLimitStore.ts';
import type { SharedWrites } from '../sql/adminStore.ts';
import type { UnsentHits } from '../sql/createSharedRateLimits.ts';
import type { Counters } from './counters.ts';
import { type QuotedTables, WEIGHT_COLUMNS, weightOfRow } from './tables.ts';

/** Prepares what administrators do to records, and noting who has called, on one connection. */
export function prepareAdminWrites(database: DatabaseSync, t: QuotedTables, counters: Counters) {
  const columns = ['seq', 'chain_name', 'status', 'updated_at', ...WEIGHT_COLUMNS].join(', ');
  const select = database.prepare(`SELECT ${columns} FROM ${t.requests} WHERE request_id = ?`);
  const removeRecord = database.prepare(`DELETE FROM ${t.requests} WHERE seq = ?`);
  const removeParams = database.prepare(`DELETE FROM ${t.params} WHERE seq = ?`);
  return {
    recordSeen({ address, at }: SharedWrites['recordSeen']['input']): null {
      counters.seen(address, at);
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
      const at = Number(row.updated_at);
      counters.moved({ chainName: String(row.chain_name), from, to: null, at, weight: weightOfRow(row) });
      return 'removed';
    },
  };
}

/** The write of the limits. */
export interface LimitWrites {
  countHits: { readonly input: readonly UnsentHits[]; readonly result: readonly WindowCounts[] };
}

/** Prepares the write of the limits on one connection. */
export function prepareCountHits(database: DatabaseSync, t: QuotedTables) {
  const upsert = database.prepare(`
    INSERT INTO ${t.rateLimits} VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET hits = hits + excluded.hits RETURNING hits`);
  const previous = database.prepare(`SELECT hits FROM ${t.rateLimits} WHERE key = ? AND window = ?`);
  // Later windows than the next are those of a clock that was ahead and has been set back.
  const sweep = database.prepare(`DELETE FROM ${t.rateLimits} WHERE window NOT BETWEEN ? AND ?`);
  let sweptAt = 0;
  return function countHits(unsent: readonly UnsentHits[]) {
    // Without hits the time is not known.
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
