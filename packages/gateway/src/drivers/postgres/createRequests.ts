import { type Creation, RECORD_BYTES, type StoredRequest, type Submission } from '../../ports/requestStore.ts';
import type { Weight } from '../sql/createCounterChanges.ts';
import type { Query } from './connect.ts';
import { REQUEST_COLUMNS, requestOfRow } from './records.ts';
import type { Tables } from './schema.ts';

/** A record to be stored. */
export interface NewRequest {
  readonly record: StoredRequest;
  readonly submission?: Submission | undefined;
}

interface QueryContext {
  readonly query: Query;
  readonly tables: Tables;
}

/** The transaction that creations are part of. */
interface CreateContext {
  /** Finds a record that was loaded. */
  find(requestId: string): unknown;
  /** Notes a new record. */
  created(request: NewRequest): void;
}

const CREATED = { outcome: 'created' } as const satisfies Creation;

/** Reads for `createRequests` the first record of each submission that has not failed. */
export async function readSubmitted(
  { query, tables }: QueryContext,
  requests: readonly NewRequest[],
): Promise<Map<string, StoredRequest>> {
  const keys = requests.flatMap(({ submission }) => (submission?.once === true ? [submission.key] : []));
  if (keys.length === 0) return new Map();
  const rows = await query(
    `SELECT DISTINCT ON (signature_key) signature_key, ${REQUEST_COLUMNS} FROM ${tables.requests}
     WHERE signature_key = ANY($1) AND status <> 'failed' ORDER BY signature_key, created_at, request_id`,
    [keys],
  );
  return new Map(rows.map((row) => [String(row.signature_key), requestOfRow(row)]));
}

/**
 * Chooses which records are new; those that are there already by their ids are loaded.
 *
 * @param submitted - as `readSubmitted` found it
 * @returns one a record, in their order
 */
export function createRequests(
  { find, created }: CreateContext,
  requests: readonly NewRequest[],
  submitted: Map<string, StoredRequest>,
): Creation[] {
  return requests.map((request): Creation => {
    const { record, submission } = request;
    const before = submission?.once === true ? submitted.get(submission.key) : undefined;
    if (before !== undefined && before.requestId !== record.requestId) return { outcome: 'exists', record: before };
    if (before === undefined && find(record.requestId) === undefined) created(request);
    if (submission !== undefined && !submitted.has(submission.key)) submitted.set(submission.key, record);
    return CREATED;
  });
}

/** The pending bytes of a new record. */
export const weightOf = ({ record, submission }: NewRequest): Weight => ({
  bytes: Buffer.byteLength(record.paramsJson) + RECORD_BYTES,
  holders: submission?.holders ?? [],
});

/** Stores records that are new, by one statement. */
export async function saveCreated(
  { query, tables }: QueryContext,
  created: readonly (NewRequest & { readonly movedSeq: number; readonly weight: Weight })[],
): Promise<void> {
  const rows = created.map(({ record, submission, movedSeq, weight: { bytes, holders } }) => ({
    id: record.requestId,
    chain_name: record.chainName,
    action: record.action,
    signer: record.signer,
    status: record.status,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    params: record.paramsJson,
    signature_key: submission?.key,
    moved_seq: movedSeq,
    bytes,
    holders,
  }));
  await query(
    `INSERT INTO ${tables.requests}
      (request_id, chain_name, action, signer, status, created_at, updated_at, params, signature_key, moved_seq, bytes, holders)
     SELECT * FROM json_to_recordset($1) AS r(id uuid, chain_name text, action text, signer text, status text, created_at bigint,
       updated_at bigint, params text, signature_key text, moved_seq bigint, bytes bigint, holders text[])`,
    [JSON.stringify(rows)],
  );
}
