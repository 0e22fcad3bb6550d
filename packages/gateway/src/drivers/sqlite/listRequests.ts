import type { StatementSync } from 'node:sqlite';
import { REQUEST_STATUSES } from '@prism-gateway/protocol/states';
import { InvalidCursorError } from '../../ports/errors.ts';
import type { ListPage, ListQuery, StoredRequest } from '../../ports/requestStore.ts';
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

/** A condition on a record `r`, with the values of its parameters. */
interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Bounds of `createdAt`. A position lies within them, and takes the place of the one that the walk began at. */
function boundsOf({ from, to, order, after }: ListQuery, column: string): readonly Condition[] {
  const begins = order === 'asc' ? from : to;
  return [
    ...(from === undefined || (after !== undefined && begins === from)
      ? []
      : [{ sql: `${column} >= ?`, values: [from] }]),
    ...(to === undefined || (after !== undefined && begins === to) ? [] : [{ sql: `${column} < ?`, values: [to] }]),
  ];
}

const isStatus = (status: string): Condition => ({ sql: 'r.status = ?', values: [status] });

/** The statuses of a list, one after another: an index holds each of them in order. A claim that has lapsed is pending to a list. */
function statusesOf({ filter: { status }, leaseExpiredAt }: ListQuery): readonly Condition[] {
  if (status === undefined) return REQUEST_STATUSES.map(isStatus);
  const lapsed = { sql: "r.status = 'processing' AND r.claimed_at <= ?", values: [leaseExpiredAt ?? -1] };
  return status === 'pending' && leaseExpiredAt !== undefined ? [isStatus(status), lapsed] : [isStatus(status)];
}

/** The conditions of a list, but for the transaction's. */
function conditionsOf(query: ListQuery): readonly Condition[] {
  const { signer, chainName, status } = query.filter;
  const statuses = status === undefined ? [] : statusesOf(query);
  return [
    ...(signer === undefined ? [] : [{ sql: 'r.signer = ?', values: [signer] }]),
    ...(chainName === undefined ? [] : [{ sql: 'r.chain_name = ?', values: [chainName] }]),
    ...(statuses.length === 0 ? [] : [joined(statuses, 'OR')]),
  ];
}

/** Joins conditions to one. */
const joined = (conditions: readonly Condition[], word: 'AND' | 'OR'): Condition => ({
  sql: conditions.map(({ sql }) => `(${sql})`).join(` ${word} `) || 'TRUE',
  values: conditions.flatMap(({ values }) => values),
});

function readPosition(after: string): [number, string] {
  const match = positionForm.exec(after);
  if (match?.[1] === undefined || match[2] === undefined) throw new InvalidCursorError();
  return [Number(match[1]), match[2]];
}

/** A query with the values of its parameters. */
interface Walk {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/**
 * Walks an index that holds the filters. The records of several statuses are those of each in turn, merged on the way: one index more would
 * be one tree more that every write has to keep.
 */
function walkIndex(tables: QuotedTables, query: ListQuery): Walk {
  const { filter, order, after } = query;
  const chain = filter.chainName === undefined ? [] : [{ sql: 'r.chain_name = ?', values: [filter.chainName] }];
  const position = after === undefined ? [] : readPosition(after);
  const behind = { sql: `(r.created_at, r.request_id) ${order === 'asc' ? '>' : '<'} (?, ?)`, values: position };
  const shared = [...chain, ...boundsOf(query, 'r.created_at'), ...(position.length > 0 ? [behind] : [])];
  const parts = statusesOf(query).map((status) => joined([...shared, status], 'AND'));
  return {
    sql: `${parts.map(({ sql }) => `${selectRequests(tables)} WHERE ${sql}`).join(' UNION ALL ')} ORDER BY created_at ${order}, request_id ${order}`,
    values: parts.flatMap(({ values }) => values),
  };
}

/** Walks what a signer has, and checks all filters on the records: another signer may have the same key. */
function walkSigner(tables: QuotedTables, query: ListQuery, signer: string): Walk {
  const { order, after } = query;
  const wanted = joined(conditionsOf(query), 'AND');
  const begin = selectSigned(tables, wanted.sql);
  // What is below 0 are places of signatures.
  const where = [`f.signer_key = ${signerKey('?')}`, 'f.place >= 0'];
  const values: (string | number)[] = [...wanted.values, signer];
  for (const bound of boundsOf(query, 'f.place')) {
    where.push(bound.sql);
    values.push(...bound.values);
  }
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
function findTransaction({ requests }: QuotedTables, query: ListQuery): string {
  const { order, after } = query;
  const bounds = boundsOf(query, 'r.created_at').map(({ sql }) => `AND ${sql}`);
  const [part, key] = [transactionPart('r.seq'), transactionKey('r.tx_hash')];
  const place = after === undefined ? '' : `AND (r.created_at, r.request_id) ${order === 'asc' ? '>' : '<'} (?, ?)`;
  return `
    WITH RECURSIVE parts(part) AS (
      SELECT ${transactionPart('min(seq)')} FROM ${requests}
      UNION ALL SELECT part + 1 FROM parts WHERE part < (SELECT ${transactionPart('max(seq)')} FROM ${requests}))
    SELECT r.seq FROM parts CROSS JOIN ${requests} r
    WHERE ${part} = parts.part AND ${key} = ${transactionKey('?')} AND r.tx_hash IS NOT NULL ${bounds.join(' ')} ${place}
    ORDER BY r.created_at ${order}, r.request_id ${order} LIMIT ${MAX_SCANNED + 1}`;
}

/** Walks the requests of a transaction, and checks all filters on the records, which are read one by one: their params may be large. */
function* walkTransaction({ statement, tables, query }: ListContext, txHash: string): Generator<RequestRow> {
  const isTransaction = { sql: 'r.tx_hash = ? COLLATE NOCASE', values: [txHash] };
  const wanted = joined([isTransaction, ...conditionsOf(query)], 'AND');
  const select = statement(`${selectWanted(tables, wanted.sql)} WHERE r.seq = ?`);
  select.setReturnArrays(true);
  const place = query.after === undefined ? [] : readPosition(query.after);
  const bounds = boundsOf(query, '').flatMap(({ values }) => values);
  for (const { seq } of statement(findTransaction(tables, query)).all(txHash, ...bounds, ...place)) {
    // The columns are those of RequestRow, and all is read in one transaction.
    yield select.get(...wanted.values, Number(seq)) as unknown as RequestRow;
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
