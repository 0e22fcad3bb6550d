import type { DatabaseSync } from 'node:sqlite';

/** Raised with every change of the tables. */
export const SCHEMA_VERSION = 2;

/**
 * `intents`: what callers want, with its account nonce; no two intents ever share one. `versions`: each transaction ever signed, never
 * deleted, so that whichever is mined is known. `facts`: which key on which chain the journal belongs to.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS intents (
    intent_id TEXT PRIMARY KEY,
    to_address TEXT NOT NULL,
    data TEXT NOT NULL,
    value TEXT NOT NULL,
    gas_limit TEXT NOT NULL,
    confirmations INTEGER NOT NULL,
    label TEXT,
    state TEXT NOT NULL,
    nonce INTEGER UNIQUE,
    failure TEXT,
    mined TEXT,
    sent TEXT,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    max_fee_per_gas TEXT,
    expires_at_ms INTEGER,
    CHECK ((state = 'queued') = (nonce IS NULL)),
    CHECK ((state = 'confirmed') = (sent IS NOT NULL))
  ) STRICT;
  CREATE INDEX IF NOT EXISTS live_intents ON intents (created_at_ms) WHERE state NOT IN ('confirmed', 'abandoned');
  CREATE TABLE IF NOT EXISTS versions (
    hash TEXT PRIMARY KEY,
    intent_id TEXT REFERENCES intents,
    nonce INTEGER NOT NULL,
    kind TEXT NOT NULL,
    raw TEXT NOT NULL,
    gas_limit TEXT NOT NULL,
    max_fee_per_gas TEXT NOT NULL,
    max_priority_fee_per_gas TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS versions_by_nonce ON versions (nonce);
  CREATE INDEX IF NOT EXISTS versions_by_intent ON versions (intent_id, created_at_ms);
`;

/** What the tables of version 1 did not have. */
const ADDED_COLUMNS = { max_fee_per_gas: 'TEXT', expires_at_ms: 'INTEGER' };

function addColumns(database: DatabaseSync): void {
  const known = new Set(
    database
      .prepare("SELECT name FROM pragma_table_info('intents')")
      .all()
      .map(({ name }) => name),
  );
  for (const [name, type] of Object.entries(ADDED_COLUMNS)) {
    if (!known.has(name)) database.exec(`ALTER TABLE intents ADD COLUMN ${name} ${type}`);
  }
}

/**
 * Makes the journal's tables where they are missing.
 *
 * @param database - open, writable
 */
export function makeTables(database: DatabaseSync): void {
  // The write-ahead log is synced at every commit: what has been committed survives a power loss.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  database.exec(`BEGIN IMMEDIATE; ${TABLES}`);
  addColumns(database);
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}
