import type {
  FeedPage,
  FeedQuery,
  ListPage,
  ListQuery,
  ReleaseAll,
  RequestStore,
  StoredRequest,
} from '../../ports/requestStore.ts';
import { selectStats, statsOfRow } from '../sql/adminRows.ts';
import {
  assertGiven,
  type FeedRow,
  type FeedStart,
  fillFeed,
  numbersOf,
  readFeedPosition,
  startFeed,
} from '../sql/feed.ts';
import { anyOf, type Condition, fillPage, selectPage, statusesOf } from '../sql/listPage.ts';
import type { Query } from './connect.ts';
import type { Writer } from './createWriter.ts';
import type { PostgresContext } from './postgresContext.ts';
import { REQUEST_COLUMNS, requestOfRow } from './records.ts';
import type { Tables } from './schema.ts';

type Reader = { readonly read: Query; readonly tables: Tables };

/** Numbers the question marks of a statement, as PostgreSQL has its parameters. */
function numbered(sql: string): string {
  let number = 0;
  return sql.replaceAll('?', () => `$${++number}`);
}

async function readByIds({ read, tables }: Reader, ids: readonly unknown[], statuses: readonly Condition[] = []) {
  if (ids.length === 0) return [];
  // A request that has moved on meanwhile has no place in the page.
  const conditions: readonly (readonly [string, ...unknown[]])[] = [
    ['request_id = ANY(?::uuid[])', ids],
    ...anyOf(statuses),
  ];
  const where = conditions.map(([sql]) => sql).join(' AND ');
  const rows = await read(
    numbered(`SELECT ${REQUEST_COLUMNS} FROM ${tables.requests} WHERE ${where}`),
    conditions.flatMap(([, ...values]) => values),
  );
  const records = new Map(rows.map((row) => [row.request_id, requestOfRow(row)]));
  return ids.flatMap((id) => records.get(id as string) ?? []);
}

async function listPage(reader: Reader, query: ListQuery): Promise<ListPage> {
  const { sql, values } = selectPage({ ...reader.tables, key: 'request_id' }, query);
  const rows = (await reader.read(numbered(sql), values)).map((row) => ({
    ...{ createdAt: Number(row.created_at), requestId: String(row.request_id), bytes: Number(row.bytes) },
    ...{ isWanted: row.is_wanted === true, value: row.key },
  }));
  const page = fillPage(query, rows);
  return { items: await readByIds(reader, page.values, statusesOf(query)), next: page.next };
}

async function readStart({ read, tables }: Reader, { chainName, leaseExpiredAt = -1 }: FeedQuery): Promise<FeedStart> {
  const [row] = await read(
    `SELECT value, (SELECT min(moved_seq) FROM ${tables.requests}
       WHERE chain_name = $1 AND status = 'processing' AND claimed_at > $2) AS first
     FROM ${tables.counters} WHERE name = 'sequence'`,
    [chainName, leaseExpiredAt],
  );
  const firstClaim = typeof row?.first === 'number' ? row.first : undefined;
  return { sequence: Number(row?.value ?? 0), firstClaim };
}

async function readFeed(reader: Reader, query: FeedQuery): Promise<FeedPage> {
  const { chainName, limit, leaseExpiredAt = -1 } = query;
  const start = readFeedPosition(query) ?? startFeed(await readStart(reader, query));
  const walk = async (status: string, after: number): Promise<readonly FeedRow<unknown>[]> => {
    const rows = await reader.read(
      `SELECT request_id, moved_seq, claimed_at, octet_length(params) AS bytes FROM ${reader.tables.requests}
       WHERE chain_name = $1 AND status = '${status}' AND moved_seq > $2 ORDER BY moved_seq LIMIT $3`,
      [chainName, after, limit + 1],
    );
    return rows.map((row) => ({
      ...{ movedSeq: Number(row.moved_seq), bytes: Number(row.bytes), claimedAt: Number(row.claimed_at) },
      value: row.request_id,
    }));
  };
  const [claims, fresh, counters] = await Promise.all([
    walk('processing', start.lapsed),
    walk('pending', start.pending),
    reader.read(`SELECT name, value FROM ${reader.tables.counters}`),
  ]);
  const numbers = numbersOf(counters);
  assertGiven(start, numbers);
  const { values, ...rest } = fillFeed(query, start, { claims, fresh, sequence: numbers.sequence });
  // A request that has moved on since comes again with its new number, if it is pending then.
  const open: Condition[] = [["status = 'pending'"], ["status = 'processing' AND claimed_at <= ?", leaseExpiredAt]];
  return { items: await readByIds(reader, values, open), ...rest };
}

async function releaseAll(writer: Writer, { limit, ...rest }: ReleaseAll): Promise<number> {
  let count = 0;
  while (count < limit) {
    const released = await writer.write('releaseAll', { ...rest, limit: limit - count });
    if (released === 0) break;
    count += released;
  }
  return count;
}

/** The queue's records in PostgreSQL. */
export function createRequestStore({ read, writer, tables }: PostgresContext): RequestStore {
  const reader = { read, tables };
  return {
    create: (record, submission) => writer.write('create', { record, submission }),
    async get(requestId): Promise<StoredRequest | undefined> {
      const [row] = await read(`SELECT ${REQUEST_COLUMNS} FROM ${tables.requests} WHERE request_id = $1`, [requestId]);
      return row && requestOfRow(row);
    },
    list: (query) => listPage(reader, query),
    feed: (query) => readFeed(reader, query),
    claim: (claim) => writer.write('claim', claim),
    claimAll: (claims) => writer.write('claimAll', claims),
    report: (report) => writer.write('report', report),
    reportAll: (reports) => writer.write('reportAll', reports),
    release: (release) => writer.write('release', release),
    reopen: (reopening) => writer.write('reopen', reopening),
    releaseAll: (release) => releaseAll(writer, release),
    async stats() {
      const [row = {}] = await read(selectStats(tables));
      return statsOfRow(row);
    },
    async pendingBytes(holders) {
      const rows = await read(`SELECT holder, bytes FROM ${tables.pending} WHERE holder = ANY($1)`, [holders]);
      const bytes = new Map(rows.map((row) => [row.holder, Number(row.bytes)]));
      return holders.map((holder) => bytes.get(holder) ?? 0);
    },
  };
}
