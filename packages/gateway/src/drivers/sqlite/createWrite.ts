import type { DatabaseSync } from 'node:sqlite';
import type { Action, RequestStatus } from '@prism-gateway/protocol';
import { type Creation, RECORD_BYTES, type StoredRequest, type Submission } from '../../ports/requestStore.ts';
import type { Counters } from './counters.ts';
import type { Outbox } from './outbox.ts';
import { type QuotedTables, type RequestRow, requestOfRow, selectRequests } from './tables.ts';

/** A new record with what is known of it beside itself, as one list: it crosses threads at half the cost of an object. */
export type NewRequest = readonly [
  requestId: string,
  chainName: string,
  action: Action,
  signer: string,
  status: RequestStatus,
  createdAt: number,
  updatedAt: number,
  paramsJson: string,
  key: string | null,
  once: boolean,
  holders: readonly string[],
];

/** Writes a new record as what the writer takes. */
export function newRequestOf(r: StoredRequest, submission: Submission | undefined): NewRequest {
  const head = [
    r.requestId,
    r.chainName,
    r.action,
    r.signer,
    r.status,
    r.createdAt,
    r.updatedAt,
    r.paramsJson,
  ] as const;
  return [...head, submission?.key ?? null, submission?.once ?? false, submission?.holders ?? []];
}

const CREATED = { outcome: 'created' } as const satisfies Creation;

/** Prepares the storing of new records. */
export function prepareCreate(
  database: DatabaseSync,
  t: QuotedTables,
  { counters, outbox }: { readonly counters: Counters; readonly outbox: Outbox },
) {
  const insert = database.prepare(`
    INSERT INTO ${t.requests}
      (request_id, chain_name, action, signer, status, created_at, updated_at, moved_seq, bytes, peer, network)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (request_id) DO NOTHING`);
  const insertParams = database.prepare(`INSERT INTO ${t.params} VALUES (?, ?, ?)`);
  const select = database.prepare(`
    ${selectRequests(t)} WHERE p.signature_key = ? AND r.status <> 'failed' ORDER BY r.created_at, r.request_id LIMIT 1`);
  select.setReturnArrays(true);
  return function create(request: NewRequest): Creation {
    const [requestId, chainName, action, signer, status, createdAt, updatedAt, paramsJson, key, once, holders] =
      request;
    if (once && key !== null) {
      // The columns are those of RequestRow.
      const row = select.get(key) as unknown as RequestRow | undefined;
      const record = row && requestOfRow(row);
      if (record !== undefined) return record.requestId === requestId ? CREATED : { outcome: 'exists', record };
    }
    const values = [requestId, chainName, action, signer, status, createdAt, updatedAt, counters.nextMove()];
    const [peer = null, network = null] = holders;
    const bytes = Buffer.byteLength(paramsJson) + RECORD_BYTES;
    const { changes, lastInsertRowid } = insert.run(...values, bytes, peer, network);
    if (changes === 0) return CREATED;
    insertParams.run(lastInsertRowid, key, paramsJson);
    const weight = { bytes, holders: holders.slice(0, 2) };
    counters.moved({ chainName, from: null, to: status, at: createdAt, weight });
    const record = { requestId, chainName, action, signer, status, createdAt, updatedAt };
    outbox.happen(() => ({ event: 'request.created', at: createdAt, record }));
    return CREATED;
  };
}
