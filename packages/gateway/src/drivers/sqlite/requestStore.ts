import type { StatementSync } from 'node:sqlite';
import { REQUEST_STATUSES, type RequestStatus } from '@prism-gateway/protocol/states';
import { InvalidCursorError } from '../../ports/errors.ts';
import type {
  BatchTransition,
  FeedPage,
  FeedQuery,
  Release,
  ReleaseAll,
  RequestStats,
  RequestStore,
  StoredRequest,
  Transition,
} from '../../ports/requestStore.ts';
import { WALK_START, type WalkPosition } from '../sql/createRetention.ts';
import { readSequence } from './counters.ts';
import type { OwnMoves } from './createRequestChanges.ts';
import { createStatements, readStore } from './createSnapshot.ts';
import { newRequestOf } from './createWrite.ts';
import type { Writer } from './createWriter.ts';
import { listPage } from './listRequests.ts';
import type { SqliteContext } from './sqliteContext.ts';
import type { ReleasedStep } from './stepWrites.ts';
import { type QuotedTables, type RequestRow, requestOfRow, selectRequests } from './tables.ts';

/** Numbers of the last moves that were given: of what became pending, and of claims that have lapsed. */
interface Position {
  readonly pending: number;
  readonly lapsed: number;
}

interface FeedContext {
  readonly statement: (sql: string) => StatementSync;
  readonly tables: QuotedTables;
}

const positionForm = /^(\d{1,16})-(\d{1,16})$/;

function readPosition(after: string): Position {
  const [, pending, lapsed] = positionForm.exec(after) ?? [];
  if (pending === undefined || lapsed === undefined) throw new InvalidCursorError();
  return { pending: Number(pending), lapsed: Number(lapsed) };
}

/** A record's columns and, behind them, the number of its last move. */
type MovedRow = readonly [...RequestRow, movedSeq: number];

const MOVED_SEQ = 13;

function walk(
  { statement, tables }: FeedContext,
  { chainName, status, after }: { chainName: string; status: 'pending' | 'processing'; after: number },
): Iterable<MovedRow> {
  const select = statement(
    `${selectRequests(tables, 'r.moved_seq')}
    WHERE r.chain_name = ? AND r.status = '${status}' AND r.moved_seq > ? ORDER BY r.moved_seq`,
  );
  select.setReturnArrays(true);
  return select.iterate(chainName, after) as unknown as Iterable<MovedRow>;
}

/** Begins before the first claim that holds, so that all that lapse from here on are given. */
function startNow(context: FeedContext, { chainName, leaseExpiredAt = -1 }: FeedQuery): Position {
  const { statement, tables } = context;
  const now = readSequence(statement, tables);
  const holding = statement(
    `SELECT min(moved_seq) AS first FROM ${tables.requests}
    WHERE chain_name = ? AND status = 'processing' AND claimed_at > ?`,
  ).get(chainName, leaseExpiredAt)?.first;
  return { pending: now, lapsed: typeof holding === 'number' ? holding - 1 : now };
}

function startOf(context: FeedContext, query: FeedQuery): Position {
  if (query.after !== undefined) return readPosition(query.after);
  return query.from === 'now' ? startNow(context, query) : { pending: 0, lapsed: 0 };
}

/** A page that is filled up to its bounds. */
function createPage({ limit, maxParamsBytes }: FeedQuery) {
  const items: StoredRequest[] = [];
  let bytes = 0;
  return {
    items,
    /** @returns whether the record had its place */
    add(row: MovedRow): boolean {
      bytes += Buffer.byteLength(row[7]);
      if (items.length === limit || (items.length > 0 && bytes > maxParamsBytes)) return false;
      // What stands behind the columns of RequestRow is not looked at.
      items.push(requestOfRow(row as unknown as RequestRow));
      return true;
    },
  };
}

/**
 * Reads a page of a chain's feed: first the claims that have lapsed, since those have waited longest, then what has become pending. Moves
 * are numbered in the order of their commits, so that none can appear before a position that was read.
 */
function readFeed(context: FeedContext, query: FeedQuery): FeedPage {
  const { chainName, leaseExpiredAt = -1 } = query;
  let { pending, lapsed } = startOf(context, query);
  const page = createPage(query);
  let nextClaimAt: number | undefined;
  for (const row of walk(context, { chainName, status: 'processing', after: lapsed })) {
    const claimedAt = row[9] ?? 0;
    // Claims lapse in their order, up to the time that lies between a clock and a commit.
    if (claimedAt > leaseExpiredAt) nextClaimAt = claimedAt;
    if (nextClaimAt !== undefined || !page.add(row)) break;
    lapsed = row[MOVED_SEQ];
  }
  for (const row of walk(context, { chainName, status: 'pending', after: pending })) {
    if (!page.add(row)) break;
    pending = row[MOVED_SEQ];
  }
  return { items: page.items, next: `${pending}-${lapsed}`, ...(nextClaimAt !== undefined && { nextClaimAt }) };
}

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
  const selectPending = database.prepare(`SELECT bytes FROM ${tables.pending} WHERE holder = ?`);
  const select = database.prepare(`${selectRequests(tables)} WHERE r.request_id = ?`);
  select.setReturnArrays(true);
  const { told, toldAll } = tellOf(changes);
  async function giveBack(move: 'release' | 'reopen', release: Release): Promise<Transition> {
    const transition = told(release.requestId, await writer.write(move, release));
    if (transition.outcome === 'moved') changes.appeared(transition.record.chainName);
    return transition;
  }
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
    claimAll: async (claims) => toldAll(claims, await writer.write('claimAll', claims)),
    report: async (report) => told(report.requestId, await writer.write('report', report)),
    reportAll: async (reports) => toldAll(reports, await writer.write('reportAll', reports)),
    release: (release) => giveBack('release', release),
    reopen: (reopening) => giveBack('reopen', reopening),
    releaseAll: (release) => releaseAll(writer, changes, release),
    stats: async () => readStore(() => snapshot.read(() => readStats(statement, tables))),
    pendingBytes: (holders) =>
      readStore(() => snapshot.read(() => holders.map((holder) => Number(selectPending.get(holder)?.bytes ?? 0)))),
  };
}
