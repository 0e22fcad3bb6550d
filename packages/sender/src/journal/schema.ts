import type { Schema } from '@prism-gateway/runtime';

/**
 * `intents`: what callers want, with its account nonce; no two intents ever share one. `versions`: each transaction ever signed, never
 * deleted, so that whichever is mined is known. `facts`: which key on which chain the journal belongs to.
 */
export const SENDER_SCHEMA: Schema = {
  store: 'sender',
  steps: [
    `CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE intents (
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
    -- Those in some states, such as what is under way at the start.
    CREATE INDEX intents_by_state ON intents (state, created_at_ms);
    CREATE TABLE versions (
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
    -- The versions on a nonce, and the highest nonce.
    CREATE INDEX versions_by_nonce ON versions (nonce);
    -- The versions of an intent, oldest first.
    CREATE INDEX versions_by_intent ON versions (intent_id, created_at_ms);`,
  ],
};
