import type { StoredRequest } from '../../ports/requestStore.ts';
import type { Weight } from '../sql/createCounterChanges.ts';
import type { HeldRequest } from '../sql/moves.ts';
import type { Row } from '../sql/sqlWrite.ts';
import type { TextForm } from '../sql/tables.ts';

/** PostgreSQL's text holds no NUL, and what people write may. */
export const escapeText = (text: string) =>
  /[\\\0]/.test(text) ? text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0') : text;
/** Reads what `escapeText` has written. */
export const unescapeText = (text: string) =>
  text.includes('\\') ? text.replaceAll(/\\([\\0])/g, (_, one) => (one === '0' ? '\0' : '\\')) : text;

export const TEXT_FORM: TextForm = { write: escapeText, read: unescapeText };

/** A request's columns, but for the two that only `create` writes. */
export const REQUEST_COLUMNS =
  'request_id, chain_name, action, signer, status, created_at, updated_at, params, tx_hash, error_message, claimed_by, claimed_at, held_by, held_since, call_id';

/** Those that moves work on, with params of the requests in $2: batches answer without them, and they may be large. */
export const HELD_COLUMNS = `${REQUEST_COLUMNS.replace('params', "CASE WHEN request_id = ANY($2::uuid[]) THEN params ELSE '' END AS params")}, bytes, holders`;

/** Reads the pending bytes of a row. */
export const weightOfRow = ({ bytes, holders }: Row): Weight => ({
  bytes: Number(bytes),
  // A column of texts.
  holders: holders as unknown as readonly string[],
});

/** Reads a row as the port's record. */
export function requestOfRow(row: Row): StoredRequest {
  const { tx_hash: txHash, error_message: errorMessage, claimed_by: claimedBy, claimed_at: claimedAt } = row;
  return {
    requestId: String(row.request_id),
    chainName: String(row.chain_name),
    // The columns hold what this driver writes.
    action: row.action as StoredRequest['action'],
    signer: String(row.signer),
    status: row.status as StoredRequest['status'],
    paramsJson: String(row.params),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    ...(claimedBy !== null && { claimedBy: String(claimedBy), claimedAt: Number(claimedAt) }),
    ...(txHash !== null && { txHash: String(txHash) }),
    ...(errorMessage !== null && { errorMessage: unescapeText(String(errorMessage)) }),
  };
}

/** Reads a row as what moves work on. */
export const heldOfRow = (row: Row): HeldRequest => ({
  record: requestOfRow(row),
  callId: row.call_id === null ? null : String(row.call_id),
  heldBy: row.held_by === null ? null : String(row.held_by),
  heldSince: row.held_since === null ? null : Number(row.held_since),
  weight: weightOfRow(row),
});

/** The values of `error_message`. */
export const errorColumn = ({ errorMessage }: StoredRequest) =>
  errorMessage === undefined ? null : escapeText(errorMessage);
