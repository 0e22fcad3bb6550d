/** The outbox is written by the database itself: triggers, which are there as long as a webhook is, and cost nothing without one. */
import type { WebhookEvent } from '@prism-gateway/protocol/webhooks';
import { MAX_WAITING, MAX_WAITING_POSTS } from '../../ports/deliveryRules.ts';
import { type QuotedTables, quoteName } from './tables.ts';

/** Each kind's bit in a webhook's `events`. */
export const EVENT_BITS: Readonly<Record<WebhookEvent, number>> = {
  'request.created': 1,
  'request.claimed': 2,
  'request.released': 4,
  'request.succeeded': 8,
  'request.failed': 16,
};

/** Name of the tables' version among those of the stores. */
export const webhooksStoreName = (requests: string) => `${requests}.webhooks`;

/** Names of the tables and triggers of webhooks. */
export function quoteWebhookTables({ requests }: Pick<QuotedTables, 'requests'>) {
  // Given quoted: the names go inside.
  const name = requests.slice(1, -1).replaceAll('""', '"');
  const suffixed = (suffix: string) => quoteName(`${name}.${suffix}`);
  return {
    webhooks: suffixed('webhooks'),
    deliveries: suffixed('deliveries'),
    triggers: { created: suffixed('webhook_created'), moved: suffixed('webhook_moved') },
    indexes: { due: suffixed('due'), ordered: suffixed('ordered'), ended: suffixed('ended') },
  };
}

/** Makes the tables. */
export function createWebhookTables(tables: QuotedTables): string {
  const { webhooks, deliveries, indexes } = quoteWebhookTables(tables);
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
    CREATE INDEX ${indexes.due} ON ${deliveries} (webhook_id, next_at) WHERE next_at IS NOT NULL;
    CREATE INDEX ${indexes.ordered} ON ${deliveries} (webhook_id, request_id, seq) WHERE state = 'waiting';
    CREATE INDEX ${indexes.ended} ON ${deliveries} (webhook_id, ended_at) WHERE state <> 'waiting';
  `;
}

/** What a trigger stores. `event` and `bit` are SQL. */
interface Outbox {
  readonly event: string;
  readonly bit: string;
  readonly at: string;
  readonly maxWaiting: number;
}

const RECORD =
  'json_array(new.chain_name, new.action, new.signer, new.status, new.created_at, new.updated_at, new.tx_hash, new.error_message, new.claimed_by, new.claimed_at)';

/** One delivery for each webhook that wants it and has room; for the others it is counted. Behind an earlier one of its request it waits. */
function writeOutbox(tables: QuotedTables, { event, bit, at, maxWaiting }: Outbox): string {
  const { webhooks, deliveries } = quoteWebhookTables(tables);
  const wants = `enabled = 1 AND events & (${bit}) AND coalesce(chain_name, new.chain_name) = new.chain_name AND coalesce(signer, new.signer) = new.signer COLLATE NOCASE`;
  return `
    UPDATE ${webhooks} SET dropped = dropped + 1, dropped_at = ${at} WHERE ${wants} AND waiting >= ${maxWaiting};
    INSERT INTO ${deliveries} (webhook_id, request_id, event, at, record, next_at)
      SELECT id, new.request_id, ${event}, ${at}, ${RECORD}, CASE WHEN EXISTS (
        SELECT 1 FROM ${deliveries} d WHERE d.webhook_id = id AND d.request_id = new.request_id AND d.state = 'waiting'
      ) THEN NULL ELSE ${at} END
      FROM ${webhooks} WHERE ${wants} AND waiting < ${maxWaiting};
    UPDATE ${webhooks} SET waiting = waiting + 1 WHERE ${wants} AND waiting < ${maxWaiting};`;
}

/** Has every move of a request written into the outbox, whichever process makes it. */
export function createOutboxTriggers(tables: QuotedTables): string {
  const { triggers } = quoteWebhookTables(tables);
  const choose = (values: readonly (string | number)[]) =>
    `CASE new.status WHEN 'processing' THEN ${values[0]} WHEN 'pending' THEN ${values[1]} WHEN 'success' THEN ${values[2]} ELSE ${values[3]} END`;
  const kinds = ['request.claimed', 'request.released', 'request.succeeded', 'request.failed'] as const;
  const created = {
    ...{ event: "'request.created'", bit: String(EVENT_BITS['request.created']) },
    ...{ at: 'new.created_at', maxWaiting: MAX_WAITING_POSTS },
  };
  const moved = {
    ...{ event: choose(kinds.map((kind) => `'${kind}'`)), bit: choose(kinds.map((kind) => EVENT_BITS[kind])) },
    ...{ at: 'new.updated_at', maxWaiting: MAX_WAITING },
  };
  return `
    CREATE TRIGGER IF NOT EXISTS ${triggers.created} AFTER INSERT ON ${tables.requests} BEGIN
      ${writeOutbox(tables, created)}
    END;
    CREATE TRIGGER IF NOT EXISTS ${triggers.moved} AFTER UPDATE OF status, claimed_by ON ${tables.requests}
    WHEN old.status <> new.status OR old.claimed_by <> new.claimed_by BEGIN
      ${writeOutbox(tables, moved)}
    END;
  `;
}

/** Takes the triggers away. */
export function dropOutboxTriggers(tables: QuotedTables): string {
  const { triggers } = quoteWebhookTables(tables);
  return `DROP TRIGGER IF EXISTS ${triggers.created}; DROP TRIGGER IF EXISTS ${triggers.moved};`;
}
