import type { Schema } from '@prism-gateway/node';
import {
  createRateLimitTable,
  createRelayerTable,
  createStatsTables,
  createWebhookTables,
  type Dialect,
  type SharedTables,
} from '../sql/sharedTables.ts';
import type { TableNames } from '../sql/tables.ts';

/** The tables of a deployment, quoted. */
export interface Tables extends SharedTables {
  readonly requests: string;
  readonly counters: string;
  /** Bytes of what is pending, by who holds it. */
  readonly pending: string;
  readonly commits: string;
  /** Where commits are announced to the other processes. */
  readonly channel: string;
}

const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** PostgreSQL cuts longer names off; the longest suffix is that of an index. */
const MAX_NAME = 40;

/** @throws Error for a name that PostgreSQL would cut off */
export function tablesOf({ requests, relayers, rateLimits }: TableNames): Tables {
  const tooLong = [requests, relayers, rateLimits].find((name) => name.length > MAX_NAME);
  if (tooLong !== undefined) {
    throw new Error(`The table name ${tooLong} is too long: with STORE=postgres at most ${MAX_NAME} characters.`);
  }
  const own = (suffix: string) => quoteName(`${requests}-${suffix}`);
  return {
    requests: quoteName(requests),
    counters: own('counters'),
    pending: own('held'),
    commits: own('commits'),
    chains: own('chains'),
    activity: own('activity'),
    relayerStats: own('relayers'),
    audit: own('audit'),
    webhooks: own('webhooks'),
    deliveries: own('deliveries'),
    relayers: quoteName(relayers),
    rateLimits: quoteName(rateLimits),
    channel: quoteName(requests),
  };
}

/** Name of an index, from that of its table. */
const indexOn = (table: string, suffix: string) => quoteName(`${table.slice(1, -1)}-${suffix}`);

/** Compared byte by byte: by a language, indexes are slower, and broken by an update of the system's library that sorts otherwise. */
const text = 'text COLLATE "C"';

/** The records. Times are milliseconds since the epoch, here and in every other table. */
const requestTables = ({ requests: r, counters, commits, pending }: Tables) => `
  CREATE TABLE ${r} (
    request_id uuid PRIMARY KEY,
    chain_name ${text} NOT NULL,
    action ${text} NOT NULL,
    signer ${text} NOT NULL,         -- as given; compared in lower case
    status ${text} NOT NULL,         -- pending, processing, success, failed
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    params ${text} NOT NULL,         -- JSON as it was posted; the queue never looks inside
    tx_hash ${text},                 -- of success
    error_message ${text},           -- of failed
    claimed_by ${text},              -- as given; compared in lower case
    claimed_at bigint,
    held_by ${text},                 -- who claimed it last, also after a release
    held_since bigint,               -- its first claim without a break of a lease
    call_id ${text},                 -- the HTTP call that moved it last: distinguishes a repetition from a rival
    signature_key ${text},           -- the same for the same submission
    moved_seq bigint NOT NULL,       -- number of its last move, in the order of commits
    bytes bigint NOT NULL,
    holders text[] NOT NULL          -- the peer that has posted it, and its network
  );
  -- GET /requests?signer=
  CREATE INDEX ${indexOn(r, 'signer')} ON ${r} (lower(signer), created_at, request_id);
  -- GET /requests?status=; what is to be removed; what a relayer holds: claims are few
  CREATE INDEX ${indexOn(r, 'status')} ON ${r} (status, created_at, request_id);
  -- GET /requests?chainName=, with a status and without
  CREATE INDEX ${indexOn(r, 'chain')} ON ${r} (chain_name, status, created_at, request_id);
  -- GET /requests/feed: what became pending, and what is claimed; a record leaves as it moves on
  CREATE INDEX ${indexOn(r, 'pending')} ON ${r} (chain_name, moved_seq) WHERE status = 'pending';
  CREATE INDEX ${indexOn(r, 'claims')} ON ${r} (chain_name, moved_seq) WHERE status = 'processing';
  -- POST /requests?once=true
  CREATE INDEX ${indexOn(r, 'signature')} ON ${r} (signature_key) WHERE signature_key IS NOT NULL;
  -- GET /admin/requests?txHash=
  CREATE INDEX ${indexOn(r, 'transaction')} ON ${r} (lower(tx_hash), created_at, request_id) WHERE tx_hash IS NOT NULL;
  -- The first row each writing transaction locks first: so moves are numbered in the order of commits. The others are the newest gap in them.
  CREATE TABLE ${counters} (name ${text} PRIMARY KEY, value bigint NOT NULL) WITH (fillfactor = 10);
  INSERT INTO ${counters} VALUES ('sequence', 0), ('left', 0), ('entered', 0);
  -- Bytes of what is pending: of all, under no name, and of each peer and network that has posted some of it.
  CREATE TABLE ${pending} (holder ${text} PRIMARY KEY, bytes bigint NOT NULL) WITH (fillfactor = 50);
  INSERT INTO ${pending} VALUES ('', 0);
  -- The last commit of each process, by which one looks up whether a commit came through whose answer was lost.
  CREATE TABLE ${commits} (process uuid PRIMARY KEY, number bigint NOT NULL, at bigint NOT NULL) WITH (fillfactor = 50);
`;

const DIALECT: Dialect = {
  ...{ text, integer: 'bigint', counted: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY' },
  ...{ keyed: 'WITH (fillfactor = 50)', plain: '', index: indexOn },
};

/** The tables of the stores, by their own names, so that any name may change alone. */
export function schemasOf(names: TableNames): readonly Schema[] {
  const tables = tablesOf(names);
  const queue = [createStatsTables, createWebhookTables].map((create) => create(tables, DIALECT));
  return [
    { store: names.requests, steps: [[requestTables(tables), ...queue].join('')] },
    { store: names.relayers, steps: [createRelayerTable(tables, DIALECT)] },
    { store: names.rateLimits, steps: [createRateLimitTable(tables, DIALECT)] },
  ];
}
