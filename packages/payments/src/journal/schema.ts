import type { DatabaseSync } from 'node:sqlite';
import { commitTogether, OUTBOX_TABLES } from '@prism-gateway/alerts';

/** Raised with every change of the tables. */
export const SCHEMA_VERSION = 2;

/** The tables of version 1. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS payments (
    payment_intent_id TEXT PRIMARY KEY,
    wallet_address TEXT NOT NULL,
    stablecoin_amount TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    credits_owed TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    tx_hash TEXT,
    paid_by TEXT,
    counted_day TEXT,
    seen_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS payments_by_state ON payments (state, seen_at_ms);
  CREATE INDEX IF NOT EXISTS payments_by_transaction ON payments (tx_hash) WHERE tx_hash IS NOT NULL;
  CREATE INDEX IF NOT EXISTS payments_by_day ON payments (counted_day) WHERE counted_day IS NOT NULL;
  CREATE TABLE IF NOT EXISTS moves (
    id INTEGER PRIMARY KEY,
    payment_intent_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    from_state TEXT,
    to_state TEXT NOT NULL,
    reason TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS moves_by_payment ON moves (payment_intent_id, id);
  CREATE TABLE IF NOT EXISTS attempts (
    intent_id TEXT PRIMARY KEY,
    payment_intent_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    to_address TEXT NOT NULL,
    data TEXT NOT NULL,
    state TEXT NOT NULL,
    tx_hash TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS attempts_by_payment ON attempts (payment_intent_id);
  CREATE TABLE IF NOT EXISTS marks (
    tx_hash TEXT PRIMARY KEY,
    sender TEXT NOT NULL,
    kind TEXT NOT NULL,
    mark TEXT,
    recipient TEXT,
    amount TEXT,
    block_number INTEGER,
    tx_index INTEGER
  ) STRICT;
  CREATE INDEX IF NOT EXISTS marks_by_mark ON marks (mark) WHERE mark IS NOT NULL;
  CREATE INDEX IF NOT EXISTS marks_by_block ON marks (block_number);
  CREATE TABLE IF NOT EXISTS broadcasts (tx_hash TEXT PRIMARY KEY, nonce INTEGER NOT NULL, raw TEXT NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS broadcasts_by_nonce ON broadcasts (nonce);
  CREATE TABLE IF NOT EXISTS watched (payment_intent_id TEXT PRIMARY KEY) STRICT;
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`;

/**
 * What version 2 adds. Marks belong to the chain and contracts that they were found on (`scope`), and each relayer's address is searched
 * with a cursor of its own. An attempt keeps what it has cost and given. Alerts wait here until each channel has taken them. Decisions
 * are what people have done, who and why.
 */
const VERSION_2 = `
  ALTER TABLE marks ADD COLUMN scope TEXT NOT NULL DEFAULT '';
  ALTER TABLE attempts ADD COLUMN mined TEXT;
  ALTER TABLE payments ADD COLUMN rate TEXT;
  CREATE TABLE cursors (scope TEXT NOT NULL, relayer TEXT NOT NULL, block_number INTEGER NOT NULL, PRIMARY KEY (scope, relayer)) STRICT;
  ${OUTBOX_TABLES}
  CREATE TABLE decisions (
    id INTEGER PRIMARY KEY,
    payment_intent_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    act TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL
  ) STRICT;
  DELETE FROM facts WHERE name = 'searched to block';
`;

/**
 * Opens the tables, and brings those of an earlier version up to date; a commit has reached the disk when it returns.
 *
 * @param database - an open file
 * @throws Error where a later version has written the file
 * @see https://sqlite.org/pragma.html#pragma_synchronous
 */
export function makeTables(database: DatabaseSync): void {
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  commitTogether(database, () => {
    const version = Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0);
    if (version > SCHEMA_VERSION)
      throw new Error(`The journal is of version ${version}; this program knows version ${SCHEMA_VERSION}. Update it.`);
    database.exec(TABLES);
    if (version < 2) database.exec(VERSION_2);
    // On a full disk a command that reads must not have to write.
    if (version < SCHEMA_VERSION) database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}
