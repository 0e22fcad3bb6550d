import { REQUEST_STATUSES, type RequestStatus } from '@prism-gateway/protocol/states';
import { InvalidCursorError } from '../../ports/errors.ts';
import type { BatchTransition, ReleaseAll, RequestStats, RequestStore } from '../../ports/requestStore.ts';
import type { OwnMoves } from './createRequestChanges.ts';
import { createStatements, readStore } from './createSnapshot.ts';
import { newRequestOf } from './createWrite.ts';
import type { Writer } from './createWriter.ts';
import { type ReleasedStep, WALK_START, type WalkPosition } from './endWrites.ts';
import { listPage } from './listRequests.ts';
import { readFeed } from './readFeed.ts';
import type { SqliteContext } from './sqliteContext.ts';
import type { QuotedTables } from './tables.ts';
import { type RequestRow, requestOfRow, selectRequests } from './tables.ts';

/** Releases of one step, which others wait for. */
const RELEASES_A_STEP = 50;

function readStats(statement: ReturnType<typeof createStatements>, tables: QuotedTables): RequestStats {
  const sums = REQUEST_STATUSES.map((status) => `sum(${status}) AS ${status}`).join(', ');
  const row = statement(`SELECT ${sums} FROM ${tables.chains}`).get();
  const counts = REQUEST_STATUSES.map((status) => [status, Number(row?.[status] ?? 0)]);
  // Every status is there.
  const countByStatus = Object.fromEntries(counts) as Record<RequestStatus, number>;
  const oldest = statement(
    `SELECT created_at FROM ${tables.requests} WHERE status = 'pending' ORDER BY created_at, request_id LIMIT 1`,
  ).get()?.created_at;
  return oldest === undefined ? { countByStatus } : { countByStatus, oldestPendingAt: Number(oldest) };
}

/** Runs a read in the snapshot; a position that the store did not make is the caller's fault, all else the store's. */
function readPage<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidCursorError) throw error;
    return readStore(() => {
      throw error;
    });
  }
}

/** Tells of what a write has moved, once it is acknowledged. */
function tellOf(changes: OwnMoves) {
  const told = <T extends { readonly outcome: string }>(requestId: string, transition: T): T => {
    if (transition.outcome === 'moved') changes.moved(requestId);
    return transition;
  };
  const toldAll = (moves: readonly { readonly requestId: string }[], transitions: readonly BatchTransition[]) => {
    for (const [i, { requestId }] of moves.entries()) if (transitions[i]?.outcome === 'moved') changes.moved(requestId);
    return transitions;
  };
  return { told, toldAll };
}

async function releaseAll(writer: Writer, changes: OwnMoves, { relayer, now, limit }: ReleaseAll): Promise<number> {
  let count = 0;
  for (let after: WalkPosition | undefined = WALK_START; after !== undefined && count < limit; ) {
    const stepLimit = Math.min(RELEASES_A_STEP, limit - count);
    const step: ReleasedStep = await writer.write('releaseStep', { relayer, now, limit: stepLimit, after });
    for (const { requestId, chainName } of step.released) {
      changes.moved(requestId);
      changes.appeared(chainName);
    }
    count += step.released.length;
    after = step.next;
  }
  return count;
}

/** The queue's records in SQLite: read on this thread, written on the writer's. */
export function createRequestStore({ database, snapshot, writer, tables, changes }: SqliteContext): RequestStore {
  const statement = createStatements(database);
  const select = database.prepare(`${selectRequests(tables)} WHERE r.request_id = ?`);
  select.setReturnArrays(true);
  const { told, toldAll } = tellOf(changes);
  return {
    async create(record, submission) {
      const creation = await writer.write('create', newRequestOf(record, submission));
      if (creation.outcome === 'created') changes.appeared(record.chainName);
      return creation;
    },
    get(requestId) {
      // Ids are made and kept in lower case. The columns are those of RequestRow.
      const row = readStore(() => snapshot.read(() => select.get(requestId.toLowerCase()))) as unknown as
        | RequestRow
        | undefined;
      return row === undefined ? undefined : requestOfRow(row);
    },
    list: async (query) => readPage(() => snapshot.read(() => listPage(statement, tables, query))),
    feed: async (query) => readPage(() => snapshot.read(() => readFeed({ statement, tables }, query))),
    claim: async (claim) => told(claim.requestId, await writer.write('claim', claim)),
    claimAll: async (moves, bounds) => toldAll(moves, await writer.write('claimAll', { moves, ...bounds })),
    async claimOldest(claim) {
      const won = await writer.write('claimOldest', claim);
      for (const { requestId } of won) changes.moved(requestId);
      return won;
    },
    report: async (report) => told(report.requestId, await writer.write('report', report)),
    reportAll: async (moves, bounds) => toldAll(moves, await writer.write('reportAll', { moves, ...bounds })),
    async release(release) {
      const transition = told(release.requestId, await writer.write('release', release));
      if (transition.outcome === 'moved') changes.appeared(transition.record.chainName);
      return transition;
    },
    releaseAll: (release) => releaseAll(writer, changes, release),
    stats: async () => readStore(() => snapshot.read(() => readStats(statement, tables))),
  };
}
