import type { DatabaseSync } from 'node:sqlite';
import { createStatsTables, statsStoreName } from './queueStats.ts';
import { quoteName, quoteTables, type TableNames } from './tables.ts';

type Migrations = readonly ((names: TableNames) => string)[];

/**
 * For each store, entries that bring its schema from the version of their index to the next one; they are only ever added. Versions
 * are kept by the store's own name, so that any name may change alone.
 */
const migrations: Readonly<Record<keyof TableNames | 'stats', Migrations>> = {
  requests: [
    (names) => {
      const t = quoteTables(names);
      const index = (suffix: string) => quoteName(`${names.requests}.${suffix}`);
      return `
        CREATE TABLE ${t.requests} (
          seq INTEGER PRIMARY KEY,
          request_id TEXT NOT NULL UNIQUE,
          chain_name TEXT NOT NULL,
          action TEXT NOT NULL,
          signer TEXT NOT NULL COLLATE NOCASE,
          status TEXT NOT NULL,
          created_at INTEGER NOT NULL,
          updated_at INTEGER NOT NULL,
          tx_hash TEXT,
          error_message TEXT,
          claimed_by TEXT COLLATE NOCASE,
          claimed_at INTEGER,
          call_id TEXT
        ) STRICT;
        CREATE INDEX ${index('by_signer')} ON ${t.requests} (signer, created_at, request_id);
        CREATE INDEX ${index('by_status')} ON ${t.requests} (status, created_at, request_id);
        CREATE INDEX ${index('by_chain')} ON ${t.requests} (chain_name, created_at, request_id);
        CREATE INDEX ${index('by_chain_status')} ON ${t.requests} (chain_name, status, created_at, request_id);
        CREATE TABLE ${t.params} (seq INTEGER PRIMARY KEY, params TEXT NOT NULL) STRICT;
        CREATE TABLE ${t.counts} (status TEXT PRIMARY KEY, records INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      `;
    },
  ],
  // Where these two are there without a version, they were made when only requests had one.
  relayers: [
    (names) => `
      CREATE TABLE IF NOT EXISTS ${quoteName(names.relayers)} (
        address TEXT PRIMARY KEY COLLATE NOCASE,
        label TEXT,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;
    `,
  ],
  rateLimits: [
    (names) => `
      CREATE TABLE IF NOT EXISTS ${quoteName(names.rateLimits)} (
        key TEXT NOT NULL,
        window INTEGER NOT NULL,
        hits INTEGER NOT NULL,
        PRIMARY KEY (key, window)
      ) STRICT, WITHOUT ROWID;
    `,
  ],
  stats: [(names) => createStatsTables(quoteTables(names))],
};

/** The data were written by a later version of this program. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
  readonly code = 'NEWER_SCHEMA';

  constructor(found: number, known: number) {
    super(`The store's schema is version ${found}, and this program knows ${known}: start a newer version.`);
  }
}

function migrateStore(database: DatabaseSync, names: TableNames, store: keyof typeof migrations): void {
  const name = store === 'stats' ? statsStoreName(names.requests) : names[store];
  const row = database.prepare('SELECT version FROM schema_versions WHERE store = ?').get(name);
  const found = Number(row?.version ?? 0);
  const known = migrations[store].length;
  if (found > known) throw new NewerSchemaError(found, known);
  if (found === known) return;
  for (const migration of migrations[store].slice(found)) database.exec(migration(names));
  database
    .prepare('INSERT INTO schema_versions VALUES (?, ?) ON CONFLICT DO UPDATE SET version = excluded.version')
    .run(name, known);
}

/**
 * Brings the schemas of all stores up to date, in one transaction; of several processes that start at once, one does it.
 *
 * @throws NewerSchemaError
 */
export function migrate(database: DatabaseSync, names: TableNames): void {
  database.exec('CREATE TABLE IF NOT EXISTS schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT');
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const store of ['requests', 'relayers', 'rateLimits', 'stats'] as const) migrateStore(database, names, store);
    database.exec('COMMIT');
  } catch (error) {
    // A full disk ends the transaction by itself.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
