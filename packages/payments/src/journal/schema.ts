import type { DatabaseSync } from 'node:sqlite';
import { migrateDatabase, type Schema } from '@prism-gateway/node';
import { OUTBOX_SCHEMA } from '@prism-gateway/node/alerts';

/**
 * The journal's tables. Transfers belong to the chain and token that they were found on (`scope`), and each party's transfers are searched with a
 * cursor of their own. An attempt keeps what it has cost and given. Decisions are what people have done, who and why. Facts and
 * alerts are in the tables of the outbox.
 */
const PAYMENTS_SCHEMA: Schema = {
  store: 'payments',
  steps: [
    `CREATE TABLE payments (
      payment_intent_id TEXT PRIMARY KEY,
      wallet_address TEXT NOT NULL,
      stablecoin_amount TEXT NOT NULL,
      state TEXT NOT NULL,
      reason TEXT,
      credits_owed TEXT,
      rate TEXT,
      attempts INTEGER NOT NULL DEFAULT 0,
      tx_hash TEXT,
      paid_by TEXT,
      counted_day TEXT,
      seen_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL
    ) STRICT;
    -- Payments in a state, oldest first.
    CREATE INDEX payments_by_state ON payments (state, seen_at_ms);
    -- What counts against a day.
    CREATE INDEX payments_by_day ON payments (counted_day) WHERE counted_day IS NOT NULL;
    CREATE TABLE moves (
      id INTEGER PRIMARY KEY,
      payment_intent_id TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      from_state TEXT,
      to_state TEXT NOT NULL,
      reason TEXT
    ) STRICT;
    -- The moves of a payment, oldest first.
    CREATE INDEX moves_by_payment ON moves (payment_intent_id, id);
    CREATE TABLE attempts (
      intent_id TEXT PRIMARY KEY,
      payment_intent_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      to_address TEXT NOT NULL,
      data TEXT NOT NULL,
      state TEXT NOT NULL,
      tx_hash TEXT,
      mined TEXT
    ) STRICT;
    -- The attempts of a payment, oldest first.
    CREATE INDEX attempts_by_payment ON attempts (payment_intent_id);
    -- Those whose data is not pruned yet.
    CREATE INDEX attempts_whole ON attempts (data = '') WHERE state <> 'open' AND data <> '';
    CREATE TABLE transfers (
      tx_hash TEXT PRIMARY KEY,
      scope TEXT NOT NULL,
      sender TEXT NOT NULL,
      via TEXT,
      payout_id TEXT,
      recipient TEXT NOT NULL,
      amount TEXT NOT NULL,
      block_number INTEGER,
      tx_index INTEGER
    ) STRICT;
    -- Transactions that speak of a payment.
    CREATE INDEX transfers_by_payout_id ON transfers (payout_id) WHERE payout_id IS NOT NULL;
    -- Transactions of a range of blocks that is searched again.
    CREATE INDEX transfers_by_block ON transfers (block_number);
    CREATE TABLE cursors (
      scope TEXT NOT NULL,
      party TEXT NOT NULL,
      block_number INTEGER NOT NULL,
      PRIMARY KEY (scope, party)
    ) STRICT;
    CREATE TABLE broadcasts (tx_hash TEXT PRIMARY KEY, nonce INTEGER NOT NULL, raw TEXT NOT NULL) STRICT;
    -- What this instance has broadcast on a nonce.
    CREATE INDEX broadcasts_by_nonce ON broadcasts (nonce);
    CREATE TABLE watched (payment_intent_id TEXT PRIMARY KEY) STRICT;
    CREATE TABLE decisions (
      id INTEGER PRIMARY KEY,
      payment_intent_id TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      act TEXT NOT NULL,
      who TEXT NOT NULL,
      why TEXT NOT NULL
    ) STRICT;`,
  ],
};

/**
 * Opens the tables; a commit has reached the disk when it returns.
 *
 * @throws NewerSchemaError
 * @see https://sqlite.org/pragma.html#pragma_synchronous
 */
export function makeTables(database: DatabaseSync): void {
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  migrateDatabase(database, [PAYMENTS_SCHEMA, OUTBOX_SCHEMA]);
}
