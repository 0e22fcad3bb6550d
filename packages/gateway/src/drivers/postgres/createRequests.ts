import { type Creation, RECORD_BYTES, type StoredRequest, type Submission } from '../../ports/requestStore.ts';
import { REQUEST_COLUMNS, requestOfRow } from './records.ts';
import type { Transaction } from './transaction.ts';

/** A record to be stored. */
export interface NewRequest {
  readonly record: StoredRequest;
  readonly submission?: Submission | undefined;
}

const CREATED = { outcome: 'created' } as const satisfies Creation;

/** Finds the first record of each submission that has not failed. */
async function findSubmitted(
  { query, tables }: Transaction,
  keys: readonly string[],
): Promise<Map<string, StoredRequest>> {
  if (keys.length === 0) return new Map();
  const rows = await query(
    `SELECT DISTINCT ON (signature_key) signature_key, ${REQUEST_COLUMNS} FROM ${tables.requests}
     WHERE signature_key = ANY($1) AND status <> 'failed' ORDER BY signature_key, created_at, request_id`,
    [keys],
  );
  return new Map(rows.map((row) => [String(row.signature_key), requestOfRow(row)]));
}

/** Stores new records, those of one commit by one statement. @returns one a record, in their order */
export async function createRequests(tx: Transaction, requests: readonly NewRequest[]): Promise<readonly Creation[]> {
  const keyOf = ({ submission }: NewRequest) => submission?.key;
  const once = requests.flatMap(({ submission }) => (submission?.once === true ? [submission.key] : []));
  const known = await findSubmitted(tx, once);
  const fresh: NewRequest[] = [];
  const creations = requests.map((request): Creation => {
    const key = keyOf(request);
    const before = request.submission?.once === true && key !== undefined ? known.get(key) : undefined;
    if (before !== undefined && before.requestId !== request.record.requestId)
      return { outcome: 'exists', record: before };
    if (before === undefined) fresh.push(request);
    if (key !== undefined && !known.has(key)) known.set(key, request.record);
    return CREATED;
  });
  const column = (read: (record: StoredRequest) => unknown) => fresh.map(({ record }) => read(record));
  const inserted = await tx.query(
    `INSERT INTO ${tx.tables.requests}
      (request_id, chain_name, action, signer, status, created_at, updated_at, params, signature_key, moved_seq, bytes, holders)
     SELECT a, b, c, d, e, f, g, h, i, j, k, string_to_array(l, ' ') FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
       $8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::text[]) AS r(a, b, c, d, e, f, g, h, i, j, k, l)
     ON CONFLICT (request_id) DO NOTHING RETURNING request_id`,
    [
      column(({ requestId }) => requestId),
      column(({ chainName }) => chainName),
      column(({ action }) => action),
      column(({ signer }) => signer),
      column(({ status }) => status),
      column(({ createdAt }) => createdAt),
      column(({ updatedAt }) => updatedAt),
      column(({ paramsJson }) => paramsJson),
      fresh.map((request) => keyOf(request) ?? null),
      fresh.map(() => tx.nextMove()),
      column(({ paramsJson }) => Buffer.byteLength(paramsJson) + RECORD_BYTES),
      fresh.map(({ submission }) => submission?.holders?.join(' ') ?? ''),
    ],
  );
  const stored = new Set(inserted.map(({ request_id: id }) => id));
  for (const { record } of fresh) if (stored.delete(record.requestId)) tx.created(record);
  return creations;
}
