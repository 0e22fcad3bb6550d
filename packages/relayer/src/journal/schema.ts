/** The journal's tables. Amounts are decimal text, since they pass 2^63; times are Unix milliseconds. */
export const JOURNAL_SCHEMA = `
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
  CREATE TABLE IF NOT EXISTS submissions (
    intent_id TEXT PRIMARY KEY,
    call_to TEXT NOT NULL,
    data TEXT NOT NULL,
    gas_limit TEXT NOT NULL,
    request_ids TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
`;
