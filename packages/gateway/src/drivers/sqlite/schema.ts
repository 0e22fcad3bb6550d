import type { Schema } from '@prism-gateway/runtime';
import {
  type QuotedTables,
  quoteName,
  quoteTables,
  signaturePlace,
  signerKey,
  type TableNames,
  transactionKey,
  transactionPart,
} from './tables.ts';

type Tables = QuotedTables & { readonly index: (suffix: string) => string };

/** The records. Those that are pending or claimed have a place among all moves, `moved_seq`: that of their storing, or of their claim. */
function createRequestTables({ index, requests, params, signed, counters }: Tables): string {
  const add = (place: string) => `INSERT INTO ${signed} SELECT ${signerKey('NEW.signer')}, ${place}, NEW.seq`;
  return `
    CREATE TABLE ${requests} (
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
      call_id TEXT,
      signature_hash INTEGER,
      moved_seq INTEGER
    ) STRICT;
    -- Lists by status; what is to be removed, or released.
    CREATE INDEX ${index('by_status')} ON ${requests} (status, created_at, request_id);
    -- Lists of a chain, merged from those of its statuses; its oldest pending ones, to be claimed.
    CREATE INDEX ${index('by_chain_status')} ON ${requests} (chain_name, status, created_at, request_id);
    -- The feed of a chain: what is pending, and what is claimed.
    CREATE INDEX ${index('pending_moves')} ON ${requests} (chain_name, moved_seq) WHERE status = 'pending';
    CREATE INDEX ${index('claim_moves')} ON ${requests} (chain_name, moved_seq) WHERE status = 'processing';
    -- The requests of a transaction. Nothing but a report of success writes there, and a removal.
    CREATE INDEX ${index('by_transaction')} ON ${requests} (${transactionPart('seq')}, ${transactionKey('tx_hash')}) WHERE tx_hash IS NOT NULL;
    CREATE TABLE ${params} (seq INTEGER PRIMARY KEY, params TEXT NOT NULL) STRICT;
    CREATE TABLE ${counters} (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    -- By signer and by signature, in one table: what it has of a record is on one page, where two indexes would write two.
    CREATE TABLE ${signed} (
      signer_key TEXT NOT NULL, place INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (signer_key, place, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER ${index('signed.add')} AFTER INSERT ON ${requests} BEGIN
      ${add('NEW.created_at')};
      ${add(signaturePlace('NEW.signature_hash'))} WHERE NEW.signature_hash IS NOT NULL;
    END;
    CREATE TRIGGER ${index('signed.remove')} AFTER DELETE ON ${requests} BEGIN
      DELETE FROM ${signed} WHERE signer_key = ${signerKey('OLD.signer')}
        AND place IN (OLD.created_at, ${signaturePlace('OLD.signature_hash')}) AND seq = OLD.seq;
    END;
  `;
}

/** What is counted, and what administrators did. Chains beyond the first thousand or so are counted together, under no name. */
function createStatsTables({ chains, activity, relayerStats, audit }: Tables): string {
  return `
    CREATE TABLE ${chains} (
      chain_name TEXT PRIMARY KEY, pending INTEGER NOT NULL, processing INTEGER NOT NULL,
      success INTEGER NOT NULL, failed INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO ${chains} VALUES ('', 0, 0, 0, 0);
    CREATE TABLE ${activity} (
      period INTEGER NOT NULL, start INTEGER NOT NULL, posts INTEGER NOT NULL, claims INTEGER NOT NULL,
      success INTEGER NOT NULL, failed INTEGER NOT NULL, PRIMARY KEY (period, start)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE ${relayerStats} (
      address TEXT PRIMARY KEY COLLATE NOCASE, open_claims INTEGER NOT NULL, success INTEGER NOT NULL,
      failed INTEGER NOT NULL, conflicts INTEGER NOT NULL, last_seen_at INTEGER NOT NULL, durations TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE ${audit} (
      number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, act TEXT NOT NULL, key_id TEXT NOT NULL,
      target TEXT NOT NULL, reason TEXT
    ) STRICT;
  `;
}

function createWebhookTables({ index, webhooks, deliveries }: Tables): string {
  return `
    CREATE TABLE ${webhooks} (
      id TEXT PRIMARY KEY, url TEXT NOT NULL, events INTEGER NOT NULL,
      chain_name TEXT, signer TEXT COLLATE NOCASE, label TEXT, enabled INTEGER NOT NULL,
      created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
      secret TEXT NOT NULL, old_secret TEXT, old_secret_until INTEGER,
      waiting INTEGER NOT NULL DEFAULT 0, dropped INTEGER NOT NULL DEFAULT 0, dropped_at INTEGER, delivered_at INTEGER,
      fails INTEGER NOT NULL DEFAULT 0, failing_since INTEGER,
      paused_until INTEGER NOT NULL DEFAULT 0, probe_until INTEGER NOT NULL DEFAULT 0,
      disabled_at INTEGER, disabled_reason TEXT
    ) STRICT;
    CREATE TABLE ${deliveries} (
      seq INTEGER PRIMARY KEY AUTOINCREMENT, webhook_id TEXT NOT NULL, request_id TEXT NOT NULL,
      event TEXT NOT NULL, at INTEGER NOT NULL, record TEXT NOT NULL,
      state TEXT NOT NULL DEFAULT 'waiting', attempts INTEGER NOT NULL DEFAULT 0, next_at INTEGER,
      first_failed_at INTEGER, ended_at INTEGER, last_status INTEGER, last_error TEXT
    ) STRICT;
    -- What is due.
    CREATE INDEX ${index('due')} ON ${deliveries} (webhook_id, next_at) WHERE next_at IS NOT NULL;
    -- The next one of a request, once the one before has ended.
    CREATE INDEX ${index('ordered')} ON ${deliveries} (webhook_id, request_id, seq) WHERE state = 'waiting';
    -- What has ended first, to be forgotten.
    CREATE INDEX ${index('ended')} ON ${deliveries} (webhook_id, ended_at) WHERE state <> 'waiting';
  `;
}

/** The tables of the stores, by their own names, so that any name may change alone. */
export function schemasOf(names: TableNames): readonly Schema[] {
  const index = (suffix: string) => quoteName(`${names.requests}.${suffix}`);
  const tables = { ...quoteTables(names), index };
  const { relayers, rateLimits } = tables;
  return [
    {
      store: names.requests,
      steps: [createRequestTables(tables) + createStatsTables(tables) + createWebhookTables(tables)],
    },
    {
      store: names.relayers,
      steps: [
        `CREATE TABLE ${relayers} (
          address TEXT PRIMARY KEY COLLATE NOCASE, label TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
          suspended_at INTEGER, suspend_reason TEXT
        ) STRICT`,
      ],
    },
    {
      store: names.rateLimits,
      steps: [
        `CREATE TABLE ${rateLimits} (
          key TEXT NOT NULL, window INTEGER NOT NULL, hits INTEGER NOT NULL, PRIMARY KEY (key, window)
        ) STRICT, WITHOUT ROWID`,
      ],
    },
  ];
}
