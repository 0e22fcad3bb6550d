import { REQUEST_STATUSES } from '@prism-gateway/protocol/states';
import { InvalidCursorError } from '../../ports/errors.ts';
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
import { type FeedRow, type FeedStart, fillFeed, readFeedPosition, startFeed } from '../sql/feed.ts';
import type { Row } from '../sql/sqlWrite.ts';
import type { Query } from './connect.ts';
import type { Writer } from './createWriter.ts';
import type { PostgresContext } from './postgresContext.ts';
import { REQUEST_COLUMNS, requestOfRow } from './records.ts';
import type { Tables } from './schema.ts';

/** Most records that one page looks at where no index holds all of its filters: the page is then short, not slow. */
const MAX_SCANNED = 1000;

type Reader = { readonly read: Query; readonly tables: Tables };

/** SQL with its values, gathered condition by condition. */
function createConditions() {
  const values: unknown[] = [];
  const conditions: string[] = [];
  /** @param sql - with `?` for each value */
  function text(sql: string, ...given: readonly unknown[]): string {
    let i = 0;
    const numbered = sql.replaceAll('?', () => `$${values.length + ++i}`);
    values.push(...given);
    return numbered;
  }
  return {
    values,
    text,
    add: (sql: string, ...given: readonly unknown[]) => void conditions.push(text(sql, ...given)),
    all: (): readonly string[] => conditions,
  };
}

type Condition = readonly [sql: string, ...values: readonly unknown[]];

/** The statuses of a list, one after another: an index holds each of them in order. A claim that has lapsed is pending to a list. */
function statusesOf({ filter: { status }, leaseExpiredAt }: Pick<ListQuery, 'filter' | 'leaseExpiredAt'>): Condition[] {
  if (status === undefined) return [];
  const lapsed: Condition = ["status = 'processing' AND claimed_at <= ?", leaseExpiredAt];
  return status === 'pending' && leaseExpiredAt !== undefined
    ? [['status = ?', status], lapsed]
    : [['status = ?', status]];
}

/** Conditions as one, of which any may hold. */
const anyOf = (all: readonly Condition[]): Condition[] =>
  all.length < 2
    ? [...all]
    : [[`(${all.map(([sql]) => sql).join(' OR ')})`, ...all.flatMap(([, ...values]) => values)]];

/** Conditions that an index holds, of which the statuses are walked one after another, and those that are checked on what it finds. */
function conditionsOf(query: ListQuery) {
  const { signer, status, chainName, txHash } = query.filter;
  const all: Condition[] = [];
  if (txHash !== undefined) all.push(['lower(tx_hash) = lower(?) AND tx_hash IS NOT NULL', txHash]);
  if (signer !== undefined) all.push(['lower(signer) = lower(?)', signer]);
  if (chainName !== undefined) all.push(['chain_name = ?', chainName]);
  if (txHash !== undefined || signer !== undefined)
    return { indexed: all.slice(0, 1), merged: [], checked: [...all.slice(1), ...anyOf(statusesOf(query))] };
  const everyStatus = REQUEST_STATUSES.map((one): Condition => ['status = ?', one]);
  return { indexed: all, merged: status === undefined ? everyStatus : statusesOf(query), checked: [] };
}

function readPosition(after: string): readonly [number, string] {
  const [, createdAt, requestId] = /^(\d{1,15}):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(after) ?? [];
  if (createdAt === undefined || requestId === undefined) throw new InvalidCursorError();
  return [Number(createdAt), requestId];
}

const positionOf = ({ created_at: createdAt, request_id: requestId }: Row) => `${createdAt}:${requestId}`;

/** Walks an index, and reads of each record what tells whether it belongs into the page: its params may be large. */
async function scan({ read, tables }: Reader, query: ListQuery): Promise<readonly Row[]> {
  const { order, from, to, after, limit } = query;
  const { indexed, merged, checked } = conditionsOf(query);
  const where = createConditions();
  for (const [sql, ...values] of indexed) where.add(sql, ...values);
  if (from !== undefined) where.add('created_at >= ?', from);
  if (to !== undefined) where.add('created_at < ?', to);
  if (after !== undefined)
    where.add(`(created_at, request_id) ${order === 'asc' ? '>' : '<'} (?, ?::uuid)`, ...readPosition(after));
  const most = checked.length > 0 ? MAX_SCANNED + 1 : limit + 1;
  const sorted = `ORDER BY created_at ${order}, request_id ${order} LIMIT ${most}`;
  const all = [...checked, ...merged].map(([sql, ...values]) => where.text(sql, ...values));
  const wanted = all.slice(0, checked.length).join(' AND ') || 'TRUE';
  const columns = `created_at, request_id, octet_length(params) AS bytes, ${wanted} AS is_wanted`;
  const select = (more: readonly string[]) =>
    `SELECT ${columns} FROM ${tables.requests} WHERE ${[...where.all(), ...more].join(' AND ') || 'TRUE'} ${sorted}`;
  // Records of several statuses are those of each in turn, merged: one index more would be one more to write at each move.
  const statuses = all.slice(checked.length);
  if (statuses.length < 2) return await read(select(statuses), where.values);
  const each = statuses.map((status) => `(${select([status])})`);
  return await read(`${each.join(' UNION ALL ')} ${sorted}`, where.values);
}

async function readByIds({ read, tables }: Reader, ids: readonly unknown[], statuses: readonly Condition[] = []) {
  if (ids.length === 0) return [];
  const where = createConditions();
  where.add('request_id = ANY(?::uuid[])', ids);
  // What has moved on meanwhile has no place in the page.
  for (const [sql, ...values] of anyOf(statuses)) where.add(sql, ...values);
  const rows = await read(
    `SELECT ${REQUEST_COLUMNS} FROM ${tables.requests} WHERE ${where.all().join(' AND ')}`,
    where.values,
  );
  const records = new Map(rows.map((row) => [row.request_id, requestOfRow(row)]));
  return ids.flatMap((id) => records.get(id as string) ?? []);
}

async function listPage(reader: Reader, query: ListQuery): Promise<ListPage> {
  const { limit, maxParamsBytes = Number.POSITIVE_INFINITY } = query;
  const rows = await scan(reader, query);
  const ids: unknown[] = [];
  let bytes = 0;
  let last: Row | undefined;
  let isCut = false;
  for (const [i, row] of rows.entries()) {
    if (row.is_wanted === true) bytes += Number(row.bytes);
    isCut = ids.length === limit || (ids.length > 0 && bytes > maxParamsBytes) || i === MAX_SCANNED;
    if (isCut) break;
    last = row;
    if (row.is_wanted === true) ids.push(row.request_id);
  }
  const items = await readByIds(reader, ids, statusesOf(query));
  return { items, next: isCut && last !== undefined ? positionOf(last) : null };
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
  const [claims, fresh] = await Promise.all([walk('processing', start.lapsed), walk('pending', start.pending)]);
  const { values, ...rest } = fillFeed(query, start, { claims, fresh });
  // What has moved on since comes again with its new number, if it is pending then.
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
