import type { OpenState } from '../lifecycle/lifecycle.ts';
import type { OpenRequest, Outcome, RelayedRecord, SignatureRef } from '../lifecycle/openRequest.ts';

/** A row of the table of requests. */
export interface Row {
  readonly request_id: string;
  readonly state: OpenState | 'reported' | 'lost';
  readonly record: string;
  readonly signatures: string;
  readonly gas: string | null;
  readonly intent_id: string | null;
  readonly attempts: number;
  readonly outcome: string | null;
  readonly claimed_at: number;
}

type WrittenSignature = Omit<SignatureRef, 'nonce'> & { readonly nonce: string | null };

/** Writes what of a request is JSON or decimal text in its row. */
export function writeFields(request: Pick<OpenRequest, 'record' | 'signatures' | 'gas'>) {
  const { requestId, action, signer, params, createdAt } = request.record;
  const signatures: WrittenSignature[] = request.signatures.map((signature) => ({
    ...signature,
    nonce: signature.nonce === undefined ? null : String(signature.nonce),
  }));
  return {
    record: JSON.stringify({ requestId, action, signer, params, createdAt }),
    signatures: JSON.stringify(signatures),
    gas: request.gas === undefined ? null : String(request.gas),
  };
}

/** Reads the row of a request that has not ended; rows are only ever written by this journal. */
export function readRow(row: Row): OpenRequest {
  return {
    requestId: row.request_id,
    // Only open rows are read.
    state: row.state as OpenState,
    record: JSON.parse(row.record) as RelayedRecord,
    signatures: (JSON.parse(row.signatures) as WrittenSignature[]).map((signature) => ({
      ...signature,
      nonce: signature.nonce === null ? undefined : BigInt(signature.nonce),
    })),
    gas: row.gas === null ? undefined : BigInt(row.gas),
    intentId: row.intent_id ?? undefined,
    attempts: row.attempts,
    outcome: row.outcome === null ? undefined : (JSON.parse(row.outcome) as Outcome),
    claimedAtMs: row.claimed_at,
  };
}
