import type { DatabaseSync } from 'node:sqlite';

/**
 * The journal's tables. Amounts are decimal text, since they pass 2^63; times are Unix milliseconds. `wishes` holds the references of a
 * request's signatures: the column keeps the name that journals on the disk have.
 */
const JOURNAL_SCHEMA = `
  CREATE TABLE IF NOT EXISTS requests (
    request_id TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('claiming', 'claimed', 'submitted', 'mined', 'reported', 'lost')),
    record TEXT NOT NULL,
    wishes TEXT NOT NULL,
    gas TEXT,
    intent_id TEXT,
    attempts INTEGER NOT NULL,
    outcome TEXT,
    claimed_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS open_requests ON requests (claimed_at) WHERE state NOT IN ('reported', 'lost');
  CREATE INDEX IF NOT EXISTS ended_requests ON requests (updated_at) WHERE state IN ('reported', 'lost');
  CREATE TABLE IF NOT EXISTS submissions (
    intent_id TEXT PRIMARY KEY,
    call_to TEXT NOT NULL,
    data TEXT NOT NULL,
    gas_limit TEXT NOT NULL,
    request_ids TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    max_fee TEXT,
    expires_at INTEGER
  ) STRICT;
  CREATE INDEX IF NOT EXISTS submissions_when ON submissions (created_at);
  CREATE TABLE IF NOT EXISTS moves (
    request_id TEXT NOT NULL,
    state TEXT NOT NULL,
    mover TEXT NOT NULL,
    moved_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS moves_of ON moves (request_id);
  CREATE TABLE IF NOT EXISTS judged (
    request_id TEXT PRIMARY KEY,
    signer TEXT NOT NULL,
    action TEXT NOT NULL,
    verdict TEXT NOT NULL,
    message TEXT,
    waits_for TEXT,
    judged_at INTEGER NOT NULL,
    recheck_at INTEGER,
    pays_at REAL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS judged_when ON judged (judged_at);
  CREATE INDEX IF NOT EXISTS judged_as ON judged (verdict, judged_at);
  CREATE INDEX IF NOT EXISTS judged_again ON judged (recheck_at) WHERE recheck_at IS NOT NULL;
  CREATE INDEX IF NOT EXISTS judged_cheap ON judged (pays_at) WHERE pays_at > 0;
  CREATE TABLE IF NOT EXISTS losses (
    request_id TEXT NOT NULL,
    signers TEXT NOT NULL,
    codes TEXT NOT NULL,
    wei TEXT NOT NULL,
    gift TEXT NOT NULL,
    lost_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS losses_when ON losses (lost_at);
  CREATE TABLE IF NOT EXISTS customers (signer TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS exceeded (
    budget TEXT NOT NULL,
    party TEXT NOT NULL,
    lost TEXT NOT NULL,
    budgeted TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (budget, party)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS foreign_transactions (
    nonce INTEGER NOT NULL,
    transactions INTEGER NOT NULL,
    tx_hash TEXT,
    found_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS outvoted_nodes (
    node TEXT NOT NULL,
    says TEXT NOT NULL,
    found_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS cursors (position INTEGER PRIMARY KEY, cursor TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS totals (name TEXT PRIMARY KEY, amount TEXT NOT NULL) STRICT;
`;

/** What tables on the disk may not have yet, as earlier versions made them. */
const ADDED_COLUMNS = [['submissions', 'max_fee', 'TEXT'] as const, ['submissions', 'expires_at', 'INTEGER'] as const];

/** Makes the tables, and adds to those of earlier versions what they lack. */
export function makeTables(database: DatabaseSync): void {
  database.exec(JOURNAL_SCHEMA);
  for (const [table, column, type] of ADDED_COLUMNS) {
    const known = database.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column);
    if (known === undefined) database.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`);
  }
}
