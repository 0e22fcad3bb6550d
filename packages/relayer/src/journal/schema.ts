import type { Schema } from '@prism-gateway/node';
import type { OpenRequest, OpenState, Outcome, RelayedRecord, SignatureRef } from '../lifecycle/states.ts';

/**
 * The journal's tables. Amounts are decimal text, since they pass 2^63; times are Unix milliseconds. `requests.signatures` holds the
 * references of a request's signatures.
 */
export const JOURNAL_SCHEMA: Schema = {
  store: 'relayer',
  steps: [
    `CREATE TABLE requests (
      request_id TEXT PRIMARY KEY,
      state TEXT NOT NULL CHECK (state IN ('claiming', 'claimed', 'submitted', 'finalized', 'reported', 'lost')),
      record TEXT NOT NULL,
      signatures TEXT NOT NULL,
      gas TEXT,
      intent_id TEXT,
      attempts INTEGER NOT NULL,
      outcome TEXT,
      claimed_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT;
    -- What has not ended, oldest claim first.
    CREATE INDEX open_requests ON requests (claimed_at) WHERE state NOT IN ('reported', 'lost');
    -- What has ended, oldest first, to be forgotten.
    CREATE INDEX ended_requests ON requests (updated_at) WHERE state IN ('reported', 'lost');
    CREATE TABLE submissions (
      intent_id TEXT PRIMARY KEY,
      call_to TEXT NOT NULL,
      data BLOB NOT NULL,
      gas_limit TEXT NOT NULL,
      request_ids TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      max_fee TEXT,
      expires_at INTEGER
    ) STRICT;
    -- Those whose bytes are not pruned yet.
    CREATE INDEX submissions_whole ON submissions (created_at) WHERE data <> X'';
    -- The oldest, to be forgotten.
    CREATE INDEX submissions_when ON submissions (created_at);
    CREATE TABLE moves (
      request_id TEXT NOT NULL,
      state TEXT NOT NULL,
      mover TEXT NOT NULL,
      moved_at INTEGER NOT NULL
    ) STRICT;
    -- The moves of a request.
    CREATE INDEX moves_of ON moves (request_id);
    CREATE TABLE evaluated (
      request_id TEXT PRIMARY KEY,
      signer TEXT NOT NULL,
      action TEXT NOT NULL,
      verdict TEXT NOT NULL,
      message TEXT,
      gap TEXT,
      gap_state TEXT,
      since INTEGER NOT NULL,
      evaluated_at INTEGER NOT NULL,
      recheck_at INTEGER,
      pays_at REAL,
      settings TEXT NOT NULL,
      waits_for TEXT,
      is_known_payer INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    -- The oldest, to be forgotten, and the newest that wait for something.
    CREATE INDEX evaluated_when ON evaluated (evaluated_at);
    -- How many verdicts of each kind there are, also of late.
    CREATE INDEX evaluated_as ON evaluated (verdict, evaluated_at);
    -- What is due to be looked at again, of known payers by itself.
    CREATE INDEX evaluated_again ON evaluated (recheck_at) WHERE recheck_at IS NOT NULL;
    CREATE INDEX evaluated_again_known ON evaluated (recheck_at) WHERE recheck_at IS NOT NULL AND is_known_payer = 1;
    -- What pays at the present price of gas, likewise.
    CREATE INDEX evaluated_cheap ON evaluated (pays_at) WHERE pays_at > 0;
    CREATE INDEX evaluated_cheap_known ON evaluated (pays_at) WHERE pays_at > 0 AND is_known_payer = 1;
    -- Those of a signer, of which its next transaction may end some.
    CREATE INDEX evaluated_of ON evaluated (signer, evaluated_at);
    CREATE TABLE losses (
      request_id TEXT NOT NULL,
      signers TEXT NOT NULL,
      codes TEXT NOT NULL,
      wei TEXT NOT NULL,
      gift TEXT NOT NULL,
      lost_at INTEGER NOT NULL
    ) STRICT;
    -- What was lost of late.
    CREATE INDEX losses_when ON losses (lost_at);
    -- What signers have paid beyond what their requests have cost, in wei.
    CREATE TABLE customers (signer TEXT PRIMARY KEY, paid_net TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE exceeded (
      budget TEXT NOT NULL,
      party TEXT NOT NULL,
      lost TEXT NOT NULL,
      budgeted TEXT NOT NULL,
      until INTEGER NOT NULL,
      PRIMARY KEY (budget, party)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE foreign_transactions (
      nonce INTEGER NOT NULL,
      transactions INTEGER NOT NULL,
      tx_hash TEXT,
      found_at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE outlier_nodes (
      node TEXT NOT NULL,
      says TEXT NOT NULL,
      found_at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE cursors (position INTEGER PRIMARY KEY, cursor TEXT NOT NULL) STRICT;
    CREATE TABLE totals (name TEXT PRIMARY KEY, amount TEXT NOT NULL) STRICT;`,
  ],
};

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
  readonly updated_at: number;
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
