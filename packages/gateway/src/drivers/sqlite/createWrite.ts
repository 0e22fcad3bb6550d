import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Creation, StoredRequest, Submission } from '../../ports/requestStore.ts';
import { signatureKeyOf } from '../../ports/signatureKey.ts';
import type { Counters } from './counters.ts';
import { hashOfKey } from './hashSignature.ts';
import { type QuotedTables, type RequestRow, requestOfRow, selectRequests } from './tables.ts';

/** A new record with what is known of it beside itself. */
export interface NewRequest {
  readonly record: StoredRequest;
  readonly submission?: Submission;
}

const CREATED = { outcome: 'created' } as const satisfies Creation;

/** Finds the first record that carries a signature. */
function findSigned(select: StatementSync, signatureKey: string): StoredRequest | undefined {
  // The columns are those of RequestRow.
  for (const row of select.iterate(hashOfKey(signatureKey)) as unknown as Iterable<RequestRow>) {
    const record = requestOfRow(row);
    const { chainName, signer, paramsJson } = record;
    if (signatureKeyOf({ chainName, signer, params: JSON.parse(paramsJson) }) === signatureKey) return record;
  }
  return undefined;
}

/** Prepares the storing of new records. */
export function prepareCreate(database: DatabaseSync, t: QuotedTables, counters: Counters) {
  const insert = database.prepare(`
    INSERT INTO ${t.requests}
      (request_id, chain_name, action, signer, status, created_at, updated_at, signature_hash, moved_seq)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (request_id) DO NOTHING`);
  const insertParams = database.prepare(`INSERT INTO ${t.params} VALUES (?, ?)`);
  const selectSigned = database.prepare(`${selectRequests(t)} WHERE r.signature_hash = ? ORDER BY r.seq`);
  selectSigned.setReturnArrays(true);
  return function create({ record: r, submission }: NewRequest): Creation {
    if (submission?.once) {
      const record = findSigned(selectSigned, submission.signatureKey);
      if (record !== undefined) return record.requestId === r.requestId ? CREATED : { outcome: 'exists', record };
    }
    const hash = submission === undefined ? null : hashOfKey(submission.signatureKey);
    const { requestId, chainName, action, signer, status, createdAt, updatedAt } = r;
    const values = [requestId, chainName, action, signer, status, createdAt, updatedAt, hash, counters.nextMove()];
    const { changes, lastInsertRowid } = insert.run(...values);
    if (changes === 0) return CREATED;
    insertParams.run(lastInsertRowid, r.paramsJson);
    counters.moved({ chainName, from: null, to: status, at: createdAt });
    return CREATED;
  };
}
