import type { StatementSync } from 'node:sqlite';
import { InvalidCursorError } from '../../ports/errors.ts';
import type {
  BatchTransition,
  FeedPage,
  FeedQuery,
  ListPage,
  ListQuery,
  Release,
  ReleaseAll,
  RequestStats,
  RequestStore,
  StoredRequest,
  Transition,
} from '../../ports/requestStore.ts';
import { selectStats, statsOfRow } from '../sql/adminRows.ts';
import { WALK_START, type WalkPosition } from '../sql/createRetention.ts';
import { assertGiven, type FeedRow, type FeedStart, fillFeed, readFeedPosition, startFeed } from '../sql/feed.ts';
import { fillPage, type PageRow, selectPage } from '../sql/listPage.ts';
import { readNumbers, readSequence } from './counters.ts';
import type { OwnMoves } from './createRequestChanges.ts';
import { createStatements, readStore } from './createSnapshot.ts';
import { newRequestOf } from './createWrite.ts';
import type { Writer } from './createWriter.ts';
import type { SqliteContext } from './sqliteContext.ts';
import type { ReleasedStep } from './stepWrites.ts';
import { type QuotedTables, type RequestRow, requestOfRow, selectFound, selectRequests } from './tables.ts';

interface ReadContext {
  readonly statement: (sql: string) => StatementSync;
  readonly tables: QuotedTables;
}

/** A record's columns, with null for the params of one that does not belong into the page, and what shows whether it does. */
type FoundRow = readonly [...RequestRow, isWanted: number, bytes: number];

/** Walks what may belong into a page. */
function* walkPage({ statement, tables }: ReadContext, query: ListQuery): Generator<PageRow<StoredRequest>> {
  const { sql, values } = selectPage({ ...tables, key: 'seq' }, query);
  const select = statement(selectFound(tables, sql));
  select.setReturnArrays(true);
  // The columns are those of FoundRow.
  for (const row of select.iterate(...values) as unknown as Iterable<FoundRow>) {
    yield { requestId: row[0], createdAt: row[5], isWanted: row[13] === 1, bytes: row[14], value: requestOfRow(row) };
  }
}

/** Reads a page. @throws InvalidCursorError */
function listPage(context: ReadContext, query: ListQuery): ListPage {
  const { values, next } = fillPage(query, walkPage(context, query));
  return { items: values, next };
}

/** A record's columns and, behind them, the number of its last move. */
type MovedRow = readonly [...RequestRow, movedSeq: number];

/** Walks what has a place among all moves, behind a number. */
function* walkMoves(
  { statement, tables }: ReadContext,
  { chainName, status, after }: { chainName: string; status: 'pending' | 'processing'; after: number },
): Generator<FeedRow<StoredRequest>> {
  const select = statement(
    `${selectRequests(tables, 'r.moved_seq')}
    WHERE r.chain_name = ? AND r.status = '${status}' AND r.moved_seq > ? ORDER BY r.moved_seq`,
  );
  select.setReturnArrays(true);
  // The columns are those of MovedRow.
  for (const row of select.iterate(chainName, after) as unknown as Iterable<MovedRow>) {
    yield { movedSeq: row[13], bytes: Buffer.byteLength(row[7]), claimedAt: row[9] ?? 0, value: requestOfRow(row) };
  }
}

function readStart({ statement, tables }: ReadContext, { chainName, leaseExpiredAt = -1 }: FeedQuery): FeedStart {
  const holding = statement(
    `SELECT min(moved_seq) AS first FROM ${tables.requests}
    WHERE chain_name = ? AND status = 'processing' AND claimed_at > ?`,
  ).get(chainName, leaseExpiredAt)?.first;
  const firstClaim = typeof holding === 'number' ? holding : undefined;
  return { sequence: readSequence(statement, tables), firstClaim };
}

function readFeed(context: ReadContext, query: FeedQuery): FeedPage {
  const { chainName } = query;
  const start = readFeedPosition(query) ?? startFeed(readStart(context, query));
  const numbers = readNumbers(context.statement, context.tables);
  assertGiven(start, numbers);
  const { values, ...rest } = fillFeed(query, start, {
    sequence: numbers.sequence,
    claims: walkMoves(context, { chainName, status: 'processing', after: start.lapsed }),
    fresh: walkMoves(context, { chainName, status: 'pending', after: start.pending }),
  });
  return { items: values, ...rest };
}

/** Releases of one step, which others wait for. */
const RELEASES_A_STEP = 50;

function readStats({ statement, tables }: ReadContext): RequestStats {
  return statsOfRow(statement(selectStats(tables)).get() ?? {});
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

/** Announces what a write has moved, once it is acknowledged. */
function announceTo(changes: OwnMoves) {
  const announced = <T extends { readonly outcome: string }>(requestId: string, transition: T): T => {
    if (transition.outcome === 'moved') changes.moved(requestId);
    return transition;
  };
  const announcedAll = (moves: readonly { readonly requestId: string }[], transitions: readonly BatchTransition[]) => {
    for (const [i, { requestId }] of moves.entries()) if (transitions[i]?.outcome === 'moved') changes.moved(requestId);
    return transitions;
  };
  return { announced, announcedAll };
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
  const { announced, announcedAll } = announceTo(changes);
  async function giveBack(move: 'release' | 'reopen', release: Release): Promise<Transition> {
    const transition = announced(release.requestId, await writer.write(move, release));
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
    list: async (query) => readPage(() => snapshot.read(() => listPage({ statement, tables }, query))),
    async feed(query) {
      const look = () => readPage(() => snapshot.read(() => readFeed({ statement, tables }, query)));
      try {
        return look();
      } catch (error) {
        if (!(error instanceof InvalidCursorError)) throw error;
        // Another process may have come to the position within this turn.
        snapshot.end();
        return look();
      }
    },
    claim: async (claim) => announced(claim.requestId, await writer.write('claim', claim)),
    claimAll: async (claims) => announcedAll(claims, await writer.write('claimAll', claims)),
    report: async (report) => announced(report.requestId, await writer.write('report', report)),
    reportAll: async (reports) => announcedAll(reports, await writer.write('reportAll', reports)),
    release: (release) => giveBack('release', release),
    reopen: (reopening) => giveBack('reopen', reopening),
    releaseAll: (release) => releaseAll(writer, changes, release),
    stats: async () => readStore(() => snapshot.read(() => readStats({ statement, tables }))),
    pendingBytes: (holders) =>
      readStore(() => snapshot.read(() => holders.map((holder) => Number(selectPending.get(holder)?.bytes ?? 0)))),
  };
}
