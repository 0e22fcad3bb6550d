import type { RequestStatus } from '@prism-gateway/protocol';
import { InvalidCursorError } from '../../ports/errors.ts';
import type { ListQuery, RequestStats, RequestStore } from '../../ports/requestStore.ts';
import { createStatements, readStore } from './createSnapshot.ts';
import { listPage } from './listRequests.ts';
import type { SqliteContext } from './sqliteContext.ts';
import type { QuotedTables } from './tables.ts';
import { type RequestRow, requestOfRow, selectRequests } from './tables.ts';

function readStats(statement: ReturnType<typeof createStatements>, tables: QuotedTables): RequestStats {
  const countByStatus: Record<RequestStatus, number> = { pending: 0, processing: 0, success: 0, failed: 0 };
  for (const row of statement(`SELECT status, records FROM ${tables.counts}`).iterate()) {
    countByStatus[row.status as RequestStatus] = Number(row.records);
  }
  const oldest = statement(
    `SELECT created_at FROM ${tables.requests} WHERE status = 'pending' ORDER BY created_at, request_id LIMIT 1`,
  ).get()?.created_at;
  return oldest === undefined ? { countByStatus } : { countByStatus, oldestPendingAt: Number(oldest) };
}

/** The queue's records in SQLite: read on this thread, written on the writer's. */
export function createRequestStore({ database, snapshot, writer, tables }: SqliteContext): RequestStore {
  const statement = createStatements(database);
  const select = database.prepare(`${selectRequests(tables)} WHERE r.request_id = ?`);
  select.setReturnArrays(true);
  return {
    async create(record) {
      await writer.write('create', record);
    },
    get(requestId) {
      // Ids are made and kept in lower case. The columns are those of RequestRow.
      const row = readStore(() => snapshot.read(() => select.get(requestId.toLowerCase()))) as unknown as
        | RequestRow
        | undefined;
      return row === undefined ? undefined : requestOfRow(row);
    },
    async list(query: ListQuery) {
      try {
        return snapshot.read(() => listPage(statement, tables, query));
      } catch (error) {
        if (error instanceof InvalidCursorError) throw error;
        return readStore(() => {
          throw error;
        });
      }
    },
    claim: (claim) => writer.write('claim', claim),
    claimAll: (moves, bounds) => writer.write('claimAll', { moves, ...bounds }),
    claimOldest: (claim) => writer.write('claimOldest', claim),
    report: (report) => writer.write('report', report),
    reportAll: (moves, bounds) => writer.write('reportAll', { moves, ...bounds }),
    release: (release) => writer.write('release', release),
    stats: async () => readStore(() => snapshot.read(() => readStats(statement, tables))),
  };
}
