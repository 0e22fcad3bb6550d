import { REQUEST_STATUSES } from '@prism-gateway/protocol/states';
import { InvalidCursorError } from '../../ports/errors.ts';
import { type ListQuery, RECORD_BYTES, type RequestFilter } from '../../ports/requestStore.ts';

/** Most records that one page looks at if no index holds all of its filters: the page is then short, not slow. */
const MAX_SCANNED = 1000;

/** A condition, with the values of its question marks. */
export type Condition = readonly [sql: string, ...values: readonly (string | number)[]];

/** A query, with the values of its question marks. */
interface Select {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

const join = (conditions: readonly Condition[], word: 'AND' | 'OR'): Condition => [
  conditions.map(([sql]) => `(${sql})`).join(` ${word} `) || 'TRUE',
  ...conditions.flatMap(([, ...values]) => values),
];

/** Lists the conditions of a status, which an index holds one after another. A claim that has lapsed is pending to a list. */
export function statusesOf({ filter: { status }, leaseExpiredAt }: Omit<ListQuery, 'order' | 'limit'>): Condition[] {
  if (status === undefined) return [];
  const own: Condition = ['status = ?', status];
  if (status !== 'pending' || leaseExpiredAt === undefined) return [own];
  return [own, ["status = 'processing' AND claimed_at <= ?", leaseExpiredAt]];
}

/** Joins conditions of which any may hold. */
export const anyOf = (conditions: readonly Condition[]): Condition[] =>
  conditions.length === 0 ? [] : [join(conditions, 'OR')];

/** The condition of each filter but the status. */
const CONDITIONS = {
  txHash: 'lower(tx_hash) = lower(?) AND tx_hash IS NOT NULL',
  signer: 'lower(signer) = lower(?)',
  chainName: 'chain_name = ?',
} satisfies Record<Exclude<keyof RequestFilter, 'status'>, string>;

/** Those of which an index holds the records by themselves: few a value, the fewest first. One of a chain holds them by status. */
const SELECTIVE = ['txHash', 'signer'] as const;

/** Conditions that an index holds, of which the statuses are walked one after another, and those that are checked on what it finds. */
function conditionsOf(query: ListQuery) {
  const { status, ...filter } = query.filter;
  const leading = SELECTIVE.find((name) => filter[name] !== undefined) ?? 'chainName';
  const [indexed, checked]: [Condition[], Condition[]] = [[], []];
  for (const [name, value] of Object.entries(filter)) {
    // The names are the filter's own.
    if (value !== undefined)
      (name === leading ? indexed : checked).push([CONDITIONS[name as keyof typeof CONDITIONS], value]);
  }
  const statuses = statusesOf(query);
  if (leading !== 'chainName') return { indexed, merged: [], checked: [...checked, ...anyOf(statuses)] };
  const merged = statuses.length > 0 ? statuses : REQUEST_STATUSES.map((one): Condition => ['status = ?', one]);
  return { indexed, merged, checked };
}

function readPosition(after: string): readonly [number, string] {
  const [, createdAt, requestId] = /^(\d{1,15}):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(after) ?? [];
  if (createdAt === undefined || requestId === undefined) throw new InvalidCursorError();
  return [Number(createdAt), requestId];
}

function boundsOf({ order, from, to, after }: ListQuery): Condition[] {
  return [
    ...(from === undefined ? [] : [['created_at >= ?', from] as const]),
    ...(to === undefined ? [] : [['created_at < ?', to] as const]),
    ...(after === undefined
      ? []
      : [[`(created_at, request_id) ${order === 'asc' ? '>' : '<'} (?, ?)`, ...readPosition(after)] as const]),
  ];
}

/**
 * Writes the query of a page: a walk on the index that holds the filters. `txHash` goes first, then `signer`: with one of them, the other
 * filters are checked on the records that it finds. Of each it reads what shows whether it belongs into the page: its params may be large.
 *
 * @param table.requests - quoted
 * @param table.key - the column by which a record is read
 * @throws InvalidCursorError
 */
export function selectPage(
  { requests, key }: { readonly requests: string; readonly key: string },
  query: ListQuery,
): Select {
  const { order, limit } = query;
  const { indexed, merged, checked } = conditionsOf(query);
  const [wanted, ...wantedValues] = join(checked, 'AND');
  const most = checked.length > 0 ? MAX_SCANNED + 1 : limit + 1;
  const sorted = `ORDER BY created_at ${order}, request_id ${order} LIMIT ${most}`;
  const select = (statuses: readonly Condition[]): Select => {
    const [where, ...values] = join([...indexed, ...boundsOf(query), ...statuses], 'AND');
    const columns = `${key} AS key, created_at, request_id, bytes, ${wanted} AS is_wanted`;
    return { sql: `SELECT ${columns} FROM ${requests} WHERE ${where} ${sorted}`, values: [...wantedValues, ...values] };
  };
  if (merged.length < 2) return select(merged);
  // Records of several statuses are those of each in turn, merged: one index more would be one more to write at each move.
  const parts = merged.map((status) => select([status]));
  return {
    sql: `${parts.map(({ sql }) => `SELECT * FROM (${sql}) AS part`).join(' UNION ALL ')} ${sorted}`,
    values: parts.flatMap(({ values }) => values),
  };
}

/** A record that `selectPage` has found; `value` is what its store makes of it. */
export interface PageRow<T> {
  readonly createdAt: number;
  readonly requestId: string;
  /** Of the record, as `bytes` has them. */
  readonly bytes: number;
  readonly isWanted: boolean;
  readonly value: T;
}

/** Fills a page with what `selectPage` finds. @returns next - where the next page begins; null: nowhere */
export function fillPage<T>(
  { limit, maxParamsBytes = Number.POSITIVE_INFINITY }: Pick<ListQuery, 'limit' | 'maxParamsBytes'>,
  rows: Iterable<PageRow<T>>,
): { readonly values: readonly T[]; readonly next: string | null } {
  const values: T[] = [];
  let [scanned, bytes] = [0, 0];
  let last: PageRow<T> | undefined;
  for (const row of rows) {
    if (row.isWanted) bytes += row.bytes - RECORD_BYTES;
    const isFull = values.length === limit || (values.length > 0 && bytes > maxParamsBytes);
    if (isFull || scanned === MAX_SCANNED) return { values, next: last ? `${last.createdAt}:${last.requestId}` : null };
    last = row;
    scanned++;
    if (row.isWanted) values.push(row.value);
  }
  return { values, next: null };
}
