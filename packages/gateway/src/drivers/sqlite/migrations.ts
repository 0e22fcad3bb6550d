import type { DatabaseSync } from 'node:sqlite';
import { auditTable } from './adminWrites.ts';
import { hashSignature } from './createWrite.ts';
import { BUSY_TIMEOUT_MS } from './openDatabase.ts';
import { createStatsTables, statsStoreName } from './statsTables.ts';
import {
  quoteName,
  quoteTables,
  signaturePlace,
  signerKey,
  type TableNames,
  transactionKey,
  transactionPart,
} from './tables.ts';
import { createWebhookTables, webhooksStoreName } from './webhookTables.ts';

/** How long a process waits for another one's migration, in milliseconds: a million records take some ten seconds. */
const MIGRATION_TIMEOUT_MS = 600_000;

type Migrations = readonly ((names: TableNames) => string)[];

/**
 * Lets signatures be found, and gives each pending or claimed record its place among all moves: the pending ones in the order in which
 * they were stored, behind them the claimed ones in the order of their claims.
 */
function followMoves(names: TableNames): string {
  const t = quoteTables(names);
  const counts = quoteName(`${names.requests}.counts`);
  const index = (suffix: string) => quoteName(`${names.requests}.${suffix}`);
  const newest = `(SELECT coalesce(max(seq), 0) FROM ${t.requests})`;
  return `
    ALTER TABLE ${t.requests} ADD COLUMN signature_hash INTEGER;
    ALTER TABLE ${t.requests} ADD COLUMN moved_seq INTEGER;
    UPDATE ${t.requests} AS r SET
      signature_hash = (SELECT hash_signature(r.chain_name, r.signer, p.params) FROM ${t.params} p WHERE p.seq = r.seq),
      moved_seq = CASE WHEN status = 'pending' THEN seq END;
    UPDATE ${t.requests} AS r SET moved_seq = ${newest} + claims.place
      FROM (SELECT seq, row_number() OVER (ORDER BY claimed_at, seq) AS place
        FROM ${t.requests} WHERE status = 'processing') AS claims WHERE r.seq = claims.seq;
    CREATE INDEX ${index('by_signature')} ON ${t.requests} (signature_hash) WHERE signature_hash IS NOT NULL;
    CREATE INDEX ${index('pending_moves')} ON ${t.requests} (chain_name, moved_seq) WHERE status = 'pending';
    CREATE INDEX ${index('claim_moves')} ON ${t.requests} (chain_name, moved_seq) WHERE status = 'processing';
    CREATE TABLE ${t.counters} (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO ${t.counters} SELECT 'status:' || status, records FROM ${counts};
    INSERT INTO ${t.counters} SELECT 'open:' || lower(claimed_by), count(*)
      FROM ${t.requests} WHERE status = 'processing' GROUP BY lower(claimed_by);
    INSERT INTO ${t.counters} SELECT 'sequence', max(coalesce(max(moved_seq), 0), ${newest}) FROM ${t.requests};
    DROP TABLE ${counts};
  `;
}

/** Counts once what was counted twice, and keeps one index less: a chain's list is merged from those of its statuses. */
function countOnce(names: TableNames): string {
  return `
    DROP INDEX ${quoteName(`${names.requests}.by_chain`)};
    DELETE FROM ${quoteTables(names).counters} WHERE name <> 'sequence';
  `;
}

/**
 * Finds records by signer and by signature in one table instead of two indexes: what it has of one record stands side by side, on one page,
 * where two indexes made each new record write two pages of its own.
 */
function findSignedTogether(names: TableNames): string {
  const t = quoteTables(names);
  const index = (suffix: string) => quoteName(`${names.requests}.${suffix}`);
  const insert = (signer: string, place: string, seq: string) =>
    `INSERT INTO ${t.signed} SELECT ${signerKey(signer)}, ${place}, ${seq}`;
  const isSigned = (hash: string) => `WHERE ${hash} IS NOT NULL`;
  return `
    CREATE TABLE ${t.signed} (
      signer_key TEXT NOT NULL, place INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (signer_key, place, seq)
    ) STRICT, WITHOUT ROWID;
    ${insert('signer', 'created_at', 'seq')} FROM ${t.requests} ORDER BY 1, 2;
    ${insert('signer', signaturePlace('signature_hash'), 'seq')} FROM ${t.requests} ${isSigned('signature_hash')} ORDER BY 1, 2;
    DROP INDEX ${index('by_signer')};
    DROP INDEX ${index('by_signature')};
    CREATE TRIGGER ${index('signed.add')} AFTER INSERT ON ${t.requests} BEGIN
      ${insert('NEW.signer', 'NEW.created_at', 'NEW.seq')};
      ${insert('NEW.signer', signaturePlace('NEW.signature_hash'), 'NEW.seq')} ${isSigned('NEW.signature_hash')};
    END;
    CREATE TRIGGER ${index('signed.remove')} AFTER DELETE ON ${t.requests} BEGIN
      DELETE FROM ${t.signed} WHERE signer_key = ${signerKey('OLD.signer')}
        AND place IN (OLD.created_at, ${signaturePlace('OLD.signature_hash')}) AND seq = OLD.seq;
    END;
  `;
}

/** Lets the requests of a transaction be found. Nothing but a report of success writes there, and a removal. */
function findByTransaction(names: TableNames): string {
  const name = quoteName(`${names.requests}.by_transaction`);
  const columns = `${transactionPart('seq')}, ${transactionKey('tx_hash')}`;
  return `CREATE INDEX ${name} ON ${quoteTables(names).requests} (${columns}) WHERE tx_hash IS NOT NULL`;
}

/**
 * For each store, entries that bring its schema from the version of their index to the next one; they are only ever added. Versions
 * are kept by the store's own name, so that any name may change alone.
 */
const migrations: Readonly<Record<keyof TableNames | 'stats' | 'webhooks' | 'audit', Migrations>> = {
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
        CREATE TABLE ${quoteName(`${names.requests}.counts`)} (
          status TEXT PRIMARY KEY, records INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
      `;
    },
    followMoves,
    countOnce,
    findSignedTogether,
    findByTransaction,
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
    (names) => `
      ALTER TABLE ${quoteName(names.relayers)} ADD COLUMN suspended_at INTEGER;
      ALTER TABLE ${quoteName(names.relayers)} ADD COLUMN suspend_reason TEXT;
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
  webhooks: [(names) => createWebhookTables(quoteTables(names))],
  audit: [
    (names) => `
      CREATE TABLE ${auditTable(names.requests)} (
        number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, act TEXT NOT NULL, key_id TEXT NOT NULL,
        target TEXT NOT NULL, reason TEXT
      ) STRICT;
    `,
  ],
};

/** The data were written by a later version of this program. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
  readonly code = 'NEWER_SCHEMA';

  constructor(found: number, known: number) {
    super(`The store's schema is version ${found}, and this program knows ${known}: start a newer version.`);
  }
}

const stores = ['requests', 'relayers', 'rateLimits', 'stats', 'webhooks', 'audit'] as const;

/** @returns a store's version, its name there, and the version that this program knows @throws NewerSchemaError */
function readVersion(database: DatabaseSync, names: TableNames, store: keyof typeof migrations) {
  const { requests } = names;
  const own = {
    ...names,
    stats: statsStoreName(requests),
    webhooks: webhooksStoreName(requests),
    audit: `${requests}.audit`,
  };
  const name = own[store];
  const row = database.prepare('SELECT version FROM schema_versions WHERE store = ?').get(name);
  const found = Number(row?.version ?? 0);
  const known = migrations[store].length;
  if (found > known) throw new NewerSchemaError(found, known);
  return { name, found, known };
}

/**
 * Sees that no later version of this program has written the data. It changes nothing.
 *
 * @throws NewerSchemaError; SQLite's own errors
 */
export function assertKnownSchema(database: DatabaseSync, names: TableNames): void {
  for (const store of stores) readVersion(database, names, store);
}

function migrateStore(database: DatabaseSync, names: TableNames, store: keyof typeof migrations): void {
  const { name, found, known } = readVersion(database, names, store);
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
  // Params are an object, written by JSON.stringify.
  database.function('hash_signature', (chainName, signer, params) =>
    hashSignature({ chainName: String(chainName), signer: String(signer), params: JSON.parse(String(params)) }),
  );
  database.exec('CREATE TABLE IF NOT EXISTS schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT');
  // Where another process is at it, a large file takes it longer than a commit.
  database.exec(`PRAGMA busy_timeout = ${MIGRATION_TIMEOUT_MS}`);
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const store of stores) migrateStore(database, names, store);
    database.exec('COMMIT');
  } catch (error) {
    // A full disk ends the transaction by itself.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  } finally {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}
