import type { Action, RequestStatus } from '@prism-gateway/protocol';
import type { RelayerRecord } from '../../ports/relayerStore.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';

/** A request's columns, with the params joined. */
export interface RequestRow {
  readonly request_id: string;
  readonly chain_name: string;
  readonly action: Action;
  readonly signer: string;
  readonly status: RequestStatus;
  readonly created_at: number;
  readonly updated_at: number;
  readonly tx_hash: string | null;
  readonly error_message: string | null;
  readonly claimed_by: string | null;
  readonly claimed_at: number | null;
  readonly params: string;
}

/** Columns of a request `r` with its params `p`. */
export const REQUEST_COLUMNS =
  'r.request_id, r.chain_name, r.action, r.signer, r.status, r.created_at, r.updated_at, r.tx_hash, r.error_message, r.claimed_by, r.claimed_at, p.params';

/** Reads a row as the port's record. */
export function requestOfRow(row: RequestRow): StoredRequest {
  return {
    requestId: row.request_id,
    chainName: row.chain_name,
    action: row.action,
    signer: row.signer,
    status: row.status,
    paramsJson: row.params,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.tx_hash !== null && { txHash: row.tx_hash }),
    ...(row.error_message !== null && { errorMessage: row.error_message }),
    ...(row.claimed_by !== null && { claimedBy: row.claimed_by }),
    ...(row.claimed_at !== null && { claimedAt: row.claimed_at }),
  };
}

/** A whitelisted relayer's columns. */
export interface RelayerRow {
  readonly address: string;
  readonly label: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** Reads a row as the port's record. */
export function relayerOfRow(row: RelayerRow): RelayerRecord {
  const { address, label, created_at: createdAt, updated_at: updatedAt } = row;
  return label === null ? { address, createdAt, updatedAt } : { address, label, createdAt, updatedAt };
}
