import type { StatementSync } from 'node:sqlite';
import { InvalidCursorError } from '../../ports/errors.ts';
import type { FeedPage, FeedQuery, StoredRequest } from '../../ports/requestStore.ts';
import { readSequence } from './counters.ts';
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
export function readFeed(context: FeedContext, query: FeedQuery): FeedPage {
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
