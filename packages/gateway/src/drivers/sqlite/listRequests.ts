import type { StatementSync } from 'node:sqlite';
import { REQUEST_STATUSES } from '@prism-gateway/protocol/states';
import { InvalidCursorError } from '../../ports/errors.ts';
import type { ListPage, ListQuery, RequestFilter, StoredRequest } from '../../ports/requestStore.ts';
import type { QuotedTables } from './tables.ts';
import { type RequestRow, requestOfRow, selectRequests, selectSomeRequests } from './tables.ts';

/** Most records that one page looks at where no index holds all of its filters: the page is then short, not slow. */
const MAX_SCANNED = 1000;

const positionForm = /^(\d{1,16}):([0-9a-f-]{36})$/;

const positionOf = (row: RequestRow) => `${row[5]}:${row[0]}`;

type Conditions = Readonly<Record<string, string>>;

/** The conditions that an index answers, in its column order, and those that are left to check on what it finds. */
function splitFilter({ signer, chainName, status }: RequestFilter): { indexed: Conditions; checked: Conditions } {
  const others = {
    ...(chainName !== undefined && { chain_name: chainName }),
    ...(status !== undefined && { status }),
  };
  return signer === undefined ? { indexed: others, checked: {} } : { indexed: { signer }, checked: others };
}

/** Writes conditions as SQL. */
const equals = (conditions: Conditions) => Object.keys(conditions).map((column) => `r.${column} = ?`);

function readPosition(after: string): [number, string] {
  const match = positionForm.exec(after);
  if (match?.[1] === undefined || match[2] === undefined) throw new InvalidCursorError();
  return [Number(match[1]), match[2]];
}

/**
 * A chain's records of all statuses are those of each in turn, merged on the way: one index more would be one tree more that every write
 * has to keep.
 */
function selectOfAnyStatus(one: string): { readonly sql: string; readonly times: number } {
  const each = REQUEST_STATUSES.map((status) => `${one} AND r.status = '${status}'`);
  return { sql: each.join(' UNION ALL '), times: each.length };
}

function walk(statement: (sql: string) => StatementSync, tables: QuotedTables, query: ListQuery) {
  const { indexed, checked } = splitFilter(query.filter);
  const position = query.after === undefined ? [] : readPosition(query.after);
  const where = equals(indexed);
  if (position.length > 0) where.push(`(r.created_at, r.request_id) ${query.order === 'asc' ? '>' : '<'} (?, ?)`);
  const wanted = equals(checked);
  const begin = wanted.length === 0 ? selectRequests(tables) : selectSomeRequests(tables, wanted.join(' AND '));
  const one = `${begin} WHERE ${where.join(' AND ')}`;
  const hasStatus = indexed.chain_name === undefined || indexed.status !== undefined;
  const { sql, times } = hasStatus ? { sql: one, times: 1 } : selectOfAnyStatus(one);
  const select = statement(`${sql} ORDER BY created_at ${query.order}, request_id ${query.order}`);
  select.setReturnArrays(true);
  const valuesOfOne = [...Object.values(checked), ...Object.values(indexed), ...position];
  const values = Array<typeof valuesOfOne>(times).fill(valuesOfOne).flat();
  // The columns are those of RequestRow; params are null where the checked conditions do not hold.
  return select.iterate(...values) as unknown as Iterable<RequestRow>;
}

/**
 * Reads a page by a walk on the index that holds the filters. `signer` goes first: with it, the other filters are checked on
 * the records it finds, at most `MAX_SCANNED` a page.
 */
export function listPage(statement: (sql: string) => StatementSync, tables: QuotedTables, query: ListQuery): ListPage {
  const items: StoredRequest[] = [];
  const { limit, maxParamsBytes = Number.POSITIVE_INFINITY } = query;
  let scanned = 0;
  let paramsBytes = 0;
  let last: RequestRow | undefined;
  for (const row of walk(statement, tables, query)) {
    if (row[7] !== null) paramsBytes += Buffer.byteLength(row[7]);
    const isFull = items.length === limit || (items.length > 0 && paramsBytes > maxParamsBytes);
    if (isFull || scanned === MAX_SCANNED) return { items, next: last ? positionOf(last) : null };
    last = row;
    scanned++;
    if (row[7] !== null) items.push(requestOfRow(row));
  }
  return { items, next: null };
}
