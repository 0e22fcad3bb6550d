import type { DatabaseSync } from 'node:sqlite';

/** Raised with every change of the tables. */
export const SCHEMA_VERSION = 1;

/**
 * Opens the tables; a commit has reached the disk when it returns.
 *
 * @param database - an open file
 * @see https://sqlite.org/pragma.html#pragma_synchronous
 */
export function makeTables(database: DatabaseSync): void {
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    BEGIN IMMEDIATE;
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
    PRAGMA user_version = ${SCHEMA_VERSION};
    COMMIT;
  `);
}
