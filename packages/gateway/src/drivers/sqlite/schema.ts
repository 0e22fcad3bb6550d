import type { Schema } from '@prism-gateway/node';
import {
  createRateLimitTable,
  createRelayerTable,
  createStatsTables,
  createWebhookTables,
  type Dialect,
} from '../sql/sharedTables.ts';
import type { TableNames } from '../sql/tables.ts';
import { type QuotedTables, quoteName, quoteTables } from './tables.ts';

type Tables = QuotedTables & { readonly index: (suffix: string) => string };

/** The records. `held_since` is when `held_by` claimed it first, without a break of a lease. Those that are pending or claimed have a place among all moves, `moved_seq`: that of their storing, or of their claim. */
function createRequestTables({ index, requests, params, counters, pending }: Tables): string {
  return `
    CREATE TABLE ${requests} (
      seq INTEGER PRIMARY KEY,
      request_id TEXT NOT NULL UNIQUE,
      chain_name TEXT NOT NULL,
      action TEXT NOT NULL,
      signer TEXT NOT NULL,
      status TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      tx_hash TEXT,
      error_message TEXT,
      claimed_by TEXT COLLATE NOCASE,
      claimed_at INTEGER,
      call_id TEXT,
      held_by TEXT COLLATE NOCASE,
      held_since INTEGER,
      moved_seq INTEGER,
      bytes INTEGER NOT NULL DEFAULT 0,
      peer TEXT,
      network TEXT
    ) STRICT;
    -- Lists by status; what is to be removed, or released.
    CREATE INDEX ${index('by_status')} ON ${requests} (status, created_at, request_id);
    -- Lists of a chain, merged from those of its statuses; its oldest pending ones, to be claimed.
    CREATE INDEX ${index('by_chain_status')} ON ${requests} (chain_name, status, created_at, request_id);
    -- The feed of a chain: what is pending, and what is claimed.
    CREATE INDEX ${index('pending_moves')} ON ${requests} (chain_name, moved_seq) WHERE status = 'pending';
    CREATE INDEX ${index('claim_moves')} ON ${requests} (chain_name, moved_seq) WHERE status = 'processing';
    -- Lists of a signer.
    CREATE INDEX ${index('by_signer')} ON ${requests} (lower(signer), created_at);
    -- The requests of a transaction.
    CREATE INDEX ${index('by_transaction')} ON ${requests} (lower(tx_hash), created_at) WHERE tx_hash IS NOT NULL;
    -- What never changes of them.
    CREATE TABLE ${params} (seq INTEGER PRIMARY KEY, signature_key TEXT, params TEXT NOT NULL) STRICT;
    -- Whether the same submission was stored before.
    CREATE INDEX ${index('by_signature')} ON ${params} (signature_key) WHERE signature_key IS NOT NULL;
    CREATE TABLE ${counters} (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    -- Bytes of what is pending: of all, under no name, and of each peer and network that has posted some of it.
    CREATE TABLE ${pending} (holder TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    -- Whose data these are: backups of others go elsewhere.
    CREATE TABLE IF NOT EXISTS database_id (id TEXT NOT NULL) STRICT;
    INSERT INTO database_id SELECT lower(hex(randomblob(16))) WHERE NOT EXISTS (SELECT 1 FROM database_id);
  `;
}

/** The tables of the stores, by their own names, so that any name may change alone. */
export function schemasOf(names: TableNames): readonly Schema[] {
  const index = (suffix: string) => quoteName(`${names.requests}.${suffix}`);
  const tables = { ...quoteTables(names), index };
  const dialect: Dialect = {
    ...{ text: 'TEXT', integer: 'INTEGER', counted: 'INTEGER PRIMARY KEY AUTOINCREMENT' },
    ...{ keyed: 'STRICT, WITHOUT ROWID', plain: 'STRICT', index: (_, suffix) => index(suffix) },
  };
  const queue = [createStatsTables, createWebhookTables].map((create) => create(tables, dialect));
  return [
    { store: names.requests, steps: [[createRequestTables(tables), ...queue].join('')] },
    { store: names.relayers, steps: [createRelayerTable(tables, dialect)] },
    { store: names.rateLimits, steps: [createRateLimitTable(tables, dialect)] },
  ];
}
