import type { Action, RequestStatus } from '@prism-gateway/protocol';
import type { StoredRequest } from '../../ports/requestStore.ts';
import type { Weight } from '../sql/createCounterChanges.ts';
import type { SharedTables } from '../sql/sharedTables.ts';
import type { Row } from '../sql/sqlWrite.ts';
import type { TableNames } from '../sql/tables.ts';

/** The tables of a deployment, quoted for SQL. */
export interface QuotedTables extends SharedTables {
  readonly requests: string;
  /** The params, apart from the records, so that a claim does not rewrite them. */
  readonly params: string;
  /** How often any record has moved. */
  readonly counters: string;
  /** Bytes of what is pending, by who holds it. */
  readonly pending: string;
}

/** Quotes an identifier. */
export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Derives and quotes all table names. */
export function quoteTables({ requests, relayers, rateLimits }: TableNames): QuotedTables {
  const suffixed = (suffix: string) => quoteName(`${requests}.${suffix}`);
  return {
    requests: quoteName(requests),
    params: suffixed('params'),
    counters: suffixed('counters'),
    pending: suffixed('pending'),
    chains: suffixed('chains'),
    activity: suffixed('activity'),
    relayerStats: suffixed('relayers'),
    audit: suffixed('audit'),
    webhooks: suffixed('webhooks'),
    deliveries: suffixed('deliveries'),
    relayers: quoteName(relayers),
    rateLimits: quoteName(rateLimits),
  };
}

/** A request's columns in the order of `REQUEST_COLUMNS`: node:sqlite makes arrays a quarter faster than objects. */
export type RequestRow = readonly [
  requestId: string,
  chainName: string,
  action: Action,
  signer: string,
  status: RequestStatus,
  createdAt: number,
  updatedAt: number,
  params: string,
  claimedBy: string | null,
  claimedAt: number | null,
  txHash: string | null,
  errorMessage: string | null,
  callId: string | null,
];

/** Columns of a request `r` with its params `p`. */
const REQUEST_COLUMNS =
  'r.request_id, r.chain_name, r.action, r.signer, r.status, r.created_at, r.updated_at, p.params, r.claimed_by, r.claimed_at, r.tx_hash, r.error_message, r.call_id';

/** Begins a query for whole requests: what follows may name columns of `r`. @param more - columns behind those of a request */
export function selectRequests(tables: QuotedTables, ...more: readonly string[]): string {
  return `SELECT ${[REQUEST_COLUMNS, ...more].join(', ')} FROM ${tables.requests} r JOIN ${tables.params} p USING (seq)`;
}

/** Reads whole what a page's query has found, in its order: the outer loop of a cross join. @param found - with seq as key */
export const selectFound = (tables: QuotedTables, found: string) =>
  `SELECT ${REQUEST_COLUMNS}, f.is_wanted, f.bytes FROM (${found}) f CROSS JOIN ${tables.requests} r ON r.seq = f.key
    LEFT JOIN ${tables.params} p ON p.seq = r.seq AND f.is_wanted`;

/** Begins the same with null for params: a batch answers without them, and they may be large. */
export const selectHeads = (tables: QuotedTables, ...more: readonly string[]) =>
  `SELECT ${[REQUEST_COLUMNS.replace('p.params', 'NULL'), ...more].join(', ')} FROM ${tables.requests} r`;

/** Columns of what a record weighs while it is pending. */
export const WEIGHT_COLUMNS = ['bytes', 'peer', 'network'] as const;

const isName = (holder: unknown) => typeof holder === 'string';

/** Reads them. */
export const weightOf = (bytes: number, ...holders: readonly unknown[]): Weight => ({
  bytes,
  holders: holders.filter(isName),
});

/** Reads them from a row of objects. */
export const weightOfRow = ({ bytes, peer, network }: Row): Weight => weightOf(Number(bytes), peer, network);

/** Reads a row as the port's record, whatever columns are behind it. */
export function requestOfRow(row: readonly [...RequestRow, ...unknown[]]): StoredRequest {
  const [requestId, chainName, action, signer, status, createdAt, updatedAt, paramsJson, claimedBy, claimedAt] = row;
  const created = { requestId, chainName, action, signer, status, paramsJson, createdAt, updatedAt };
  if (claimedBy === null || claimedAt === null) return created;
  const claimed = { ...created, claimedBy, claimedAt };
  const [txHash, errorMessage] = [row[10], row[11]];
  if (txHash !== null) return { ...claimed, txHash };
  return errorMessage === null ? claimed : { ...claimed, errorMessage };
}
