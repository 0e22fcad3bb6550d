import { REQUEST_STATUSES, type RequestStatus } from '@prism-gateway/protocol/states';
import { InvalidCursorError } from '../../ports/errors.ts';
import type {
  FeedPage,
  FeedQuery,
  ListPage,
  ListQuery,
  ReleaseAll,
  RequestStats,
  RequestStore,
  StoredRequest,
} from '../../ports/requestStore.ts';
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

/** Numbers of the last moves that were given: of what became pending, and of claims that have lapsed. */
interface Position {
  readonly pending: number;
  readonly lapsed: number;
}

async function startOf({ read, tables }: Reader, query: FeedQuery): Promise<Position> {
  const { after, from, chainName, leaseExpiredAt = -1 } = query;
  if (after !== undefined) {
    const [, pending, lapsed] = /^(\d{1,15})-(\d{1,15})$/.exec(after) ?? [];
    if (pending === undefined || lapsed === undefined) throw new InvalidCursorError();
    return { pending: Number(pending), lapsed: Number(lapsed) };
  }
  if (from === 'oldest') return { pending: 0, lapsed: 0 };
  // Before the first claim that holds, so that all that lapse from here on are given.
  const [row] = await read(
    `SELECT value, (SELECT min(moved_seq) FROM ${tables.requests}
       WHERE chain_name = $1 AND status = 'processing' AND claimed_at > $2) AS first
     FROM ${tables.counters} WHERE name = 'sequence'`,
    [chainName, leaseExpiredAt],
  );
  const now = Number(row?.value ?? 0);
  return { pending: now, lapsed: typeof row?.first === 'number' ? row.first - 1 : now };
}

/**
 * Reads a page of a chain's feed: first the claims that have lapsed, since those have waited longest, then what has become pending. Moves
 * are numbered in the order of their commits, so that none can appear before a position that was read.
 */
async function readFeed(reader: Reader, query: FeedQuery): Promise<FeedPage> {
  const { chainName, limit, maxParamsBytes, leaseExpiredAt = -1 } = query;
  let { pending, lapsed } = await startOf(reader, query);
  const walk = async (status: string, after: number): Promise<readonly Row[]> =>
    await reader.read(
      `SELECT request_id, moved_seq, claimed_at, octet_length(params) AS bytes FROM ${reader.tables.requests}
       WHERE chain_name = $1 AND status = '${status}' AND moved_seq > $2 ORDER BY moved_seq LIMIT $3`,
      [chainName, after, limit + 1],
    );
  const [claims, fresh] = await Promise.all([walk('processing', lapsed), walk('pending', pending)]);
  const ids: unknown[] = [];
  let bytes = 0;
  const add = (row: Row): boolean => {
    bytes += Number(row.bytes);
    if (ids.length === limit || (ids.length > 0 && bytes > maxParamsBytes)) return false;
    ids.push(row.request_id);
    return true;
  };
  let nextClaimAt: number | undefined;
  for (const row of claims) {
    // Claims lapse in their order, up to the time that lies between a clock and a commit.
    if (Number(row.claimed_at) > leaseExpiredAt) nextClaimAt = Number(row.claimed_at);
    if (nextClaimAt !== undefined || !add(row)) break;
    lapsed = Number(row.moved_seq);
  }
  for (const row of fresh) {
    if (!add(row)) break;
    pending = Number(row.moved_seq);
  }
  const items = await readByIds(reader, ids);
  // What has moved on since: it comes again with its new number, if it is pending then.
  const open = items.filter(
    ({ status, claimedAt = 0 }) => status === 'pending' || (status === 'processing' && claimedAt <= leaseExpiredAt),
  );
  return { items: open, next: `${pending}-${lapsed}`, ...(nextClaimAt !== undefined && { nextClaimAt }) };
}

async function readStats({ read, tables }: Reader): Promise<RequestStats> {
  const sums = REQUEST_STATUSES.map((status) => `(SELECT sum(${status}) FROM ${tables.chains}) AS ${status}`).join(
    ', ',
  );
  const [row] = await read(
    `SELECT ${sums}, (SELECT min(created_at) FROM ${tables.requests} WHERE status = 'pending') AS oldest`,
  );
  const counts = REQUEST_STATUSES.map((status) => [status, Number(row?.[status] ?? 0)]);
  // Every status is there.
  const countByStatus = Object.fromEntries(counts) as Record<RequestStatus, number>;
  return typeof row?.oldest === 'number' ? { countByStatus, oldestPendingAt: row.oldest } : { countByStatus };
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
    stats: () => readStats(reader),
    async pendingBytes(holders) {
      const rows = await read(`SELECT holder, bytes FROM ${tables.pending} WHERE holder = ANY($1)`, [holders]);
      const bytes = new Map(rows.map((row) => [row.holder, Number(row.bytes)]));
      return holders.map((holder) => bytes.get(holder) ?? 0);
    },
  };
}
