import type { Action, RequestStatus } from '@prism-gateway/protocol';
import type { StoredRequest } from '../../ports/requestStore.ts';
import type { SharedTables } from '../sql/sharedTables.ts';
import type { TableNames } from '../sql/tables.ts';

/** The tables of a deployment, quoted for SQL. */
export interface QuotedTables extends SharedTables {
  readonly requests: string;
  /** The params, apart from the records, so that a claim does not rewrite them. */
  readonly params: string;
  /** Where records are found by their signer and, exactly, by their signature. */
  readonly signed: string;
  /** How often any record has moved. */
  readonly counters: string;
  /** Bytes of what is pending, by who holds it. */
  readonly pending: string;
  /** Triggers. */
  readonly webhookCreated: string;
  readonly webhookMoved: string;
}

/** Quotes an identifier. */
export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Derives and quotes all table names. */
export function quoteTables({ requests, relayers, rateLimits }: TableNames): QuotedTables {
  const suffixed = (suffix: string) => quoteName(`${requests}.${suffix}`);
  return {
    requests: quoteName(requests),
    params: suffixed('params'),
    signed: suffixed('signed'),
    counters: suffixed('counters'),
    pending: suffixed('pending'),
    chains: suffixed('chains'),
    activity: suffixed('activity'),
    relayerStats: suffixed('relayers'),
    audit: suffixed('audit'),
    webhooks: suffixed('webhooks'),
    deliveries: suffixed('deliveries'),
    webhookCreated: suffixed('webhook_created'),
    webhookMoved: suffixed('webhook_moved'),
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

/**
 * SQL for what `signed` has of a signer: ten hex digits tell nearly all signers apart, and those that it does not are told apart by the
 * record.
 *
 * @param signer - SQL for the whole
 */
export const signerKey = (signer: string) => `lower(substr(${signer}, 3, 10))`;

/**
 * SQL for what the index of reported transactions has of a hash: eight digits tell nearly all apart, and those that they do not are told
 * apart by the record. Functions that older tools do not know have no place here: they could not open the file.
 *
 * @param txHash - SQL for the whole
 */
export const transactionKey = (txHash: string) => `lower(substr(${txHash}, 3, 8))`;

/**
 * SQL for the part of the index of reported transactions that a request is in. Hashes are random: in one order of all, each report would
 * write a page of its own. In parts of 2,048, reports of about the same time share some ten pages, and a search looks into each part.
 *
 * @param seq - SQL for the number of the record
 */
export const transactionPart = (seq: string) => `(${seq} >> 11)`;

/**
 * SQL for the place in `signed` that finds a signature; all others are times.
 *
 * @param hash - SQL for the hash, from 0 on
 */
export const signaturePlace = (hash: string) => `(-1 - ${hash})`;

/**
 * Begins a query for requests `r`, of which only some are wanted: the others come with null for params, which may be large.
 *
 * @param wanted - condition on columns of `r`
 * @param more - columns behind those of a request
 */
export function selectWanted(tables: QuotedTables, wanted: string, ...more: readonly string[]): string {
  return `SELECT ${[REQUEST_COLUMNS, ...more].join(', ')} FROM ${tables.requests} r LEFT JOIN ${tables.params} p ON p.seq = r.seq AND ${wanted}`;
}

/** Begins the same by what `f` of `signed` says. @param wanted - as there */
export function selectSigned(tables: QuotedTables, wanted: string): string {
  return `SELECT ${REQUEST_COLUMNS} FROM ${tables.signed} f CROSS JOIN ${tables.requests} r ON r.seq = f.seq
    LEFT JOIN ${tables.params} p ON p.seq = r.seq AND ${wanted}`;
}

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
