import type { StatementSync } from 'node:sqlite';
import { InvalidCursorError } from '../../ports/errors.ts';
import type { ListPage, ListQuery, RequestFilter, StoredRequest } from '../../ports/requestStore.ts';
import { type RequestRow, requestOfRow, selectRequests } from './rows.ts';
import type { QuotedTables } from './tables.ts';

/** Most records that one page looks at where no index holds all of its filters: the page is then short, not slow. */
const MAX_SCANNED = 1000;

const positionForm = /^(\d{1,16}):([0-9a-f-]{36})$/;

const positionOf = (record: StoredRequest) => `${record.createdAt}:${record.requestId}`;

/** The conditions that an index answers, in its column order. */
function indexedConditions(filter: RequestFilter): Record<string, string> {
  if (filter.signer !== undefined) return { signer: filter.signer };
  return {
    ...(filter.chainName !== undefined && { chain_name: filter.chainName }),
    ...(filter.status !== undefined && { status: filter.status }),
  };
}

function matches(record: StoredRequest, { status, chainName }: RequestFilter): boolean {
  return (
    (status === undefined || record.status === status) && (chainName === undefined || record.chainName === chainName)
  );
}

function readPosition(after: string): [number, string] {
  const match = positionForm.exec(after);
  if (match?.[1] === undefined || match[2] === undefined) throw new InvalidCursorError();
  return [Number(match[1]), match[2]];
}

function walk(statement: (sql: string) => StatementSync, tables: QuotedTables, query: ListQuery) {
  const conditions = indexedConditions(query.filter);
  const position = query.after === undefined ? [] : readPosition(query.after);
  const where = Object.keys(conditions).map((column) => `r.${column} = ?`);
  if (position.length > 0) where.push(`(r.created_at, r.request_id) ${query.order === 'asc' ? '>' : '<'} (?, ?)`);
  const sql = `
    ${selectRequests(tables)}
    WHERE ${where.join(' AND ')} ORDER BY r.created_at ${query.order}, r.request_id ${query.order}`;
  const select = statement(sql);
  select.setReturnArrays(true);
  // The columns are those of RequestRow.
  return select.iterate(...Object.values(conditions), ...position) as unknown as Iterable<RequestRow>;
}

/**
 * Reads a page by a walk on the index that holds the filters. `signer` goes first: with it, the other filters are checked on
 * the records it finds, at most `MAX_SCANNED` a page.
 */
export function listPage(statement: (sql: string) => StatementSync, tables: QuotedTables, query: ListQuery): ListPage {
  const items: StoredRequest[] = [];
  let scanned = 0;
  let last: StoredRequest | undefined;
  for (const row of walk(statement, tables, query)) {
    if (items.length === query.limit || scanned === MAX_SCANNED) return { items, next: last ? positionOf(last) : null };
    last = requestOfRow(row);
    scanned++;
    if (matches(last, query.filter)) items.push(last);
  }
  return { items, next: null };
}
