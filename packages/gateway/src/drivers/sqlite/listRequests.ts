import type { StatementSync } from 'node:sqlite';
import { REQUEST_STATUSES } from '@prism-gateway/protocol/states';
import { InvalidCursorError } from '../../ports/errors.ts';
import type { ListPage, ListQuery, RequestFilter, StoredRequest } from '../../ports/requestStore.ts';
import type { QuotedTables } from './tables.ts';
import {
  type RequestRow,
  requestOfRow,
  selectRequests,
  selectSigned,
  selectWanted,
  signerKey,
  transactionKey,
  transactionPart,
} from './tables.ts';

/** Most records that one page looks at where no index holds all of its filters: the page is then short, not slow. */
const MAX_SCANNED = 1000;

const positionForm = /^(\d{1,16}):([0-9a-f-]{36})$/;

const positionOf = (row: RequestRow) => `${row[5]}:${row[0]}`;

type Conditions = Readonly<Record<string, string>>;

/** The columns of a filter, but for the transaction's. */
function conditionsOf({ signer, chainName, status }: RequestFilter): Conditions {
  return {
    ...(signer !== undefined && { signer }),
    ...(chainName !== undefined && { chain_name: chainName }),
    ...(status !== undefined && { status }),
  };
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

/** A query with the values of its parameters. */
interface Walk {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Walks an index that holds the filters. */
function walkIndex(tables: QuotedTables, { filter, order, after }: ListQuery): Walk {
  const conditions = conditionsOf(filter);
  const position = after === undefined ? [] : readPosition(after);
  const where = equals(conditions);
  if (position.length > 0) where.push(`(r.created_at, r.request_id) ${order === 'asc' ? '>' : '<'} (?, ?)`);
  const one = `${selectRequests(tables)} WHERE ${where.join(' AND ')}`;
  const isOneIndex = filter.chainName === undefined || filter.status !== undefined;
  const { sql, times } = isOneIndex ? { sql: one, times: 1 } : selectOfAnyStatus(one);
  const valuesOfOne = [...Object.values(conditions), ...position];
  return {
    sql: `${sql} ORDER BY created_at ${order}, request_id ${order}`,
    values: Array<typeof valuesOfOne>(times).fill(valuesOfOne).flat(),
  };
}

/** Walks what a signer has, and checks all filters on the records: another signer may have the same key. */
function walkSigner(tables: QuotedTables, { filter, order, after }: ListQuery, signer: string): Walk {
  const conditions = conditionsOf(filter);
  const begin = selectSigned(tables, equals(conditions).join(' AND '));
  // What is below 0 are places of signatures.
  const where = [`f.signer_key = ${signerKey('?')}`, 'f.place >= 0'];
  const values: (string | number)[] = [...Object.values(conditions), signer];
  if (after !== undefined) {
    const [createdAt, requestId] = readPosition(after);
    const sign = order === 'asc' ? '>' : '<';
    where.push(`f.place ${sign}= ?`, `(f.place, r.request_id) ${sign} (?, ?)`);
    values.push(createdAt, createdAt, requestId);
  }
  return { sql: `${begin} WHERE ${where.join(' AND ')} ORDER BY f.place ${order}, r.request_id ${order}`, values };
}

type Statements = (sql: string) => StatementSync;

interface ListContext {
  readonly statement: Statements;
  readonly tables: QuotedTables;
  readonly query: ListQuery;
}

/** SQL that finds a transaction's requests, in the order of a list: the next of them, but for those of another one with the same key. */
function findTransaction({ requests }: QuotedTables, { order, after }: ListQuery): string {
  const [part, key] = [transactionPart('r.seq'), transactionKey('r.tx_hash')];
  const place = after === undefined ? '' : `AND (r.created_at, r.request_id) ${order === 'asc' ? '>' : '<'} (?, ?)`;
  return `
    WITH RECURSIVE parts(part) AS (
      SELECT ${transactionPart('min(seq)')} FROM ${requests}
      UNION ALL SELECT part + 1 FROM parts WHERE part < (SELECT ${transactionPart('max(seq)')} FROM ${requests}))
    SELECT r.seq FROM parts CROSS JOIN ${requests} r
    WHERE ${part} = parts.part AND ${key} = ${transactionKey('?')} AND r.tx_hash IS NOT NULL ${place}
    ORDER BY r.created_at ${order}, r.request_id ${order} LIMIT ${MAX_SCANNED + 1}`;
}

/** Walks the requests of a transaction, and checks all filters on the records, which are read one by one: their params may be large. */
function* walkTransaction({ statement, tables, query }: ListContext, txHash: string): Generator<RequestRow> {
  const conditions = conditionsOf(query.filter);
  const wanted = ['r.tx_hash = ? COLLATE NOCASE', ...equals(conditions)].join(' AND ');
  const select = statement(`${selectWanted(tables, wanted)} WHERE r.seq = ?`);
  select.setReturnArrays(true);
  const place = query.after === undefined ? [] : readPosition(query.after);
  for (const { seq } of statement(findTransaction(tables, query)).all(txHash, ...place)) {
    // The columns are those of RequestRow, and all is read in one transaction.
    yield select.get(txHash, ...Object.values(conditions), Number(seq)) as unknown as RequestRow;
  }
}

function walk(statement: Statements, tables: QuotedTables, query: ListQuery): Iterable<RequestRow> {
  const { signer, txHash } = query.filter;
  if (txHash !== undefined) return walkTransaction({ statement, tables, query }, txHash);
  const { sql, values } = signer === undefined ? walkIndex(tables, query) : walkSigner(tables, query, signer);
  const select = statement(sql);
  select.setReturnArrays(true);
  // The columns are those of RequestRow; params are null where the checked conditions do not hold.
  return select.iterate(...values) as unknown as Iterable<RequestRow>;
}

/**
 * Reads a page by a walk on the index that holds the filters. `txHash` goes first, then `signer`: with one of them, the other filters are
 * checked on the records it finds, at most `MAX_SCANNED` a page.
 */
export function listPage(statement: Statements, tables: QuotedTables, query: ListQuery): ListPage {
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
