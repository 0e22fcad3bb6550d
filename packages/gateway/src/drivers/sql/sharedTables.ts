/** Names of the tables that both SQL stores have alike, quoted. */
export interface SharedTables {
  /** How many requests there are, by chain and status. */
  readonly chains: string;
  /** How many acts there were, by minute and hour. */
  readonly activity: string;
  readonly relayerStats: string;
  /** Acts of administrators. */
  readonly audit: string;
  readonly webhooks: string;
  readonly deliveries: string;
  readonly relayers: string;
  readonly rateLimits: string;
}

/** The SQL that each store writes in its own words. */
export interface Dialect {
  readonly text: string;
  readonly integer: string;
  /** The type of a key that counts up. */
  readonly counted: string;
  /** The ends of a table that is found by its key, and of another one. */
  readonly keyed: string;
  readonly plain: string;
  /** Quotes the name of an index of a table. */
  readonly index: (table: string, suffix: string) => string;
}

/** Tables of counters and of administrators' acts. Chains beyond the first two hundred are counted together, under no name. */
export const createStatsTables = (t: SharedTables, { text, integer, counted, keyed, plain }: Dialect) => `
  CREATE TABLE ${t.chains} (
    chain_name ${text} PRIMARY KEY, pending ${integer} NOT NULL, processing ${integer} NOT NULL,
    success ${integer} NOT NULL, failed ${integer} NOT NULL
  ) ${keyed};
  INSERT INTO ${t.chains} VALUES ('', 0, 0, 0, 0);
  CREATE TABLE ${t.activity} (
    period ${integer} NOT NULL, start ${integer} NOT NULL, posts ${integer} NOT NULL, claims ${integer} NOT NULL,
    success ${integer} NOT NULL, failed ${integer} NOT NULL, PRIMARY KEY (period, start)
  ) ${keyed};
  -- By the address in lower case.
  CREATE TABLE ${t.relayerStats} (
    key ${text} PRIMARY KEY, address ${text} NOT NULL, open_claims ${integer} NOT NULL, success ${integer} NOT NULL,
    failed ${integer} NOT NULL, conflicts ${integer} NOT NULL, last_seen_at ${integer} NOT NULL, durations ${text} NOT NULL
  ) ${keyed};
  CREATE TABLE ${t.audit} (
    number ${counted}, at ${integer} NOT NULL, act ${text} NOT NULL, key_id ${text} NOT NULL, target ${text} NOT NULL, reason ${text}
  ) ${plain};
`;

export const createWebhookTables = (t: SharedTables, { text, integer, counted, plain, index }: Dialect) => `
  CREATE TABLE ${t.webhooks} (
    id ${text} PRIMARY KEY, url ${text} NOT NULL, events ${integer} NOT NULL, chain_name ${text}, signer ${text}, label ${text},
    enabled ${integer} NOT NULL, created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL,
    secret ${text} NOT NULL, old_secret ${text}, old_secret_until ${integer},
    waiting ${integer} NOT NULL DEFAULT 0, dropped ${integer} NOT NULL DEFAULT 0, dropped_at ${integer}, delivered_at ${integer},
    fails ${integer} NOT NULL DEFAULT 0, failing_since ${integer},
    paused_until ${integer} NOT NULL DEFAULT 0, probe_until ${integer} NOT NULL DEFAULT 0,
    disabled_at ${integer}, disabled_reason ${text}
  ) ${plain};
  CREATE TABLE ${t.deliveries} (
    seq ${counted}, webhook_id ${text} NOT NULL, request_id ${text} NOT NULL,
    event ${text} NOT NULL, at ${integer} NOT NULL, record ${text} NOT NULL,
    state ${text} NOT NULL DEFAULT 'waiting', attempts ${integer} NOT NULL DEFAULT 0, next_at ${integer},
    first_failed_at ${integer}, ended_at ${integer}, last_status ${integer}, last_error ${text}
  ) ${plain};
  -- What is due.
  CREATE INDEX ${index(t.deliveries, 'due')} ON ${t.deliveries} (webhook_id, next_at) WHERE next_at IS NOT NULL;
  -- The next one of a request, once the one before has ended.
  CREATE INDEX ${index(t.deliveries, 'ordered')} ON ${t.deliveries} (webhook_id, request_id, seq) WHERE state = 'waiting';
  -- What has ended first, to be forgotten.
  CREATE INDEX ${index(t.deliveries, 'ended')} ON ${t.deliveries} (webhook_id, ended_at) WHERE state <> 'waiting';
  -- GET /admin/webhooks/{webhookId}/deliveries
  CREATE INDEX ${index(t.deliveries, 'list')} ON ${t.deliveries} (webhook_id, seq);
`;

/** The whitelist, by the address in lower case. */
export const createRelayerTable = ({ relayers }: SharedTables, { text, integer, plain }: Dialect) => `
  CREATE TABLE ${relayers} (
    key ${text} PRIMARY KEY, address ${text} NOT NULL, label ${text}, created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL,
    suspended_at ${integer}, suspend_reason ${text}
  ) ${plain};
`;

export const createRateLimitTable = ({ rateLimits }: SharedTables, { text, integer, keyed }: Dialect) => `
  CREATE TABLE ${rateLimits} (
    key ${text} NOT NULL, "window" ${integer} NOT NULL, hits ${integer} NOT NULL, PRIMARY KEY (key, "window")
  ) ${keyed};
`;
