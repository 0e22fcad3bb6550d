import type { OpenState } from '../life/life.ts';
import type { OpenRequest, Outcome, RelayedRecord, SignedWish } from '../life/openRequest.ts';

/** A row of the table of requests. */
export interface Row {
  readonly request_id: string;
  readonly state: OpenState | 'reported' | 'lost';
  readonly record: string;
  readonly wishes: string;
  readonly gas: string | null;
  readonly intent_id: string | null;
  readonly attempts: number;
  readonly outcome: string | null;
  readonly claimed_at: number;
}

type WrittenWish = Omit<SignedWish, 'nonce'> & { readonly nonce: string | null };

/** Writes what of a request is JSON or decimal text in its row. */
export function writeFields(request: Pick<OpenRequest, 'record' | 'wishes' | 'gas'>) {
  const { requestId, action, signer, params, createdAt } = request.record;
  const wishes: WrittenWish[] = request.wishes.map((wish) => ({
    ...wish,
    nonce: wish.nonce === undefined ? null : String(wish.nonce),
  }));
  return {
    record: JSON.stringify({ requestId, action, signer, params, createdAt }),
    wishes: JSON.stringify(wishes),
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
    wishes: (JSON.parse(row.wishes) as WrittenWish[]).map((wish) => ({
      ...wish,
      nonce: wish.nonce === null ? undefined : BigInt(wish.nonce),
    })),
    gas: row.gas === null ? undefined : BigInt(row.gas),
    intentId: row.intent_id ?? undefined,
    attempts: row.attempts,
    outcome: row.outcome === null ? undefined : (JSON.parse(row.outcome) as Outcome),
    claimedAtMs: row.claimed_at,
  };
}
