import type { DatabaseSync } from 'node:sqlite';
import { MAX_WAITING, MAX_WAITING_POSTS } from '../../ports/deliveryRules.ts';
import {
  type DeliveryRecord,
  MAX_WEBHOOKS,
  type NewWebhook,
  ROTATION_MS,
  type WebhookRecord,
  type WebhookTarget,
} from '../../ports/webhookStore.ts';
import type { QuotedTables } from './tables.ts';
import { bitsOf, deliveryOfRow, EVENT_BITS, type Row, webhookOfRow } from './webhookRows.ts';

interface Change {
  readonly webhookId: string;
  readonly target: WebhookTarget;
  readonly now: number;
}

interface Rotation {
  readonly webhookId: string;
  readonly secret: string;
  readonly now: number;
}

interface Resend {
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly now: number;
}

/** What administrators write about webhooks, with what each takes and returns. */
export interface WebhookWrites {
  addWebhook: { readonly input: NewWebhook; readonly result: WebhookRecord | undefined };
  changeWebhook: { readonly input: Change; readonly result: WebhookRecord | undefined };
  rotateWebhook: { readonly input: Rotation; readonly result: WebhookRecord | undefined };
  removeWebhook: { readonly input: string; readonly result: boolean };
  resendDelivery: { readonly input: Resend; readonly result: DeliveryRecord | 'missing' | 'waiting' };
}

/** Prepares the resending of what has ended. */
function prepareResend(database: DatabaseSync, t: QuotedTables) {
  const select = database.prepare(`SELECT * FROM ${t.deliveries} WHERE seq = ? AND webhook_id = ?`);
  const again = database.prepare(`
    UPDATE ${t.deliveries} SET state = 'waiting', attempts = 0, next_at = ?, first_failed_at = NULL, ended_at = NULL
    WHERE seq = ?`);
  const count = database.prepare(`UPDATE ${t.webhooks} SET waiting = waiting + 1 WHERE id = ?`);
  return function resendDelivery({ webhookId, deliveryId, now }: Resend): DeliveryRecord | 'missing' | 'waiting' {
    const row: Row | undefined = /^\d{1,15}$/.test(deliveryId) ? select.get(Number(deliveryId), webhookId) : undefined;
    if (row === undefined) return 'missing';
    if (row.state === 'waiting') return 'waiting';
    again.run(now, Number(row.seq));
    count.run(webhookId);
    return deliveryOfRow(select.get(Number(row.seq), webhookId) ?? row);
  };
}

/** Prepares the replacing of what administrators set; what was disabled and is enabled begins anew. */
function prepareChange(database: DatabaseSync, t: QuotedTables) {
  const change = database.prepare(`
    UPDATE ${t.webhooks} SET url = ?, events = ?, chain_name = ?, signer = ?, label = ?, enabled = ?, updated_at = ?
    WHERE id = ?`);
  const revive = database.prepare(`
    UPDATE ${t.webhooks} SET fails = 0, failing_since = NULL, paused_until = 0, probe_until = 0, disabled_at = NULL,
      disabled_reason = NULL WHERE id = ?`);
  // Each has another day, and is tried at once.
  const retry = database.prepare(`
    UPDATE ${t.deliveries} SET first_failed_at = NULL, next_at = min(next_at, ?)
    WHERE webhook_id = ? AND next_at IS NOT NULL AND attempts > 0`);
  return function changeWebhook({ webhookId, target, now }: Change): void {
    const { url, events, chainName = null, signer = null, label = null, enabled } = target;
    change.run(url, bitsOf(events), chainName, signer, label, enabled ? 1 : 0, now, webhookId);
    if (!enabled) return;
    revive.run(webhookId);
    retry.run(now, webhookId);
  };
}

/*
 * The outbox is written by the database itself: triggers, which are there as long as a webhook is, and cost nothing without one.
 */

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
  const { webhooks, deliveries } = tables;
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
function createOutboxTriggers(tables: QuotedTables): string {
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
    CREATE TRIGGER IF NOT EXISTS ${tables.webhookCreated} AFTER INSERT ON ${tables.requests} BEGIN
      ${writeOutbox(tables, created)}
    END;
    CREATE TRIGGER IF NOT EXISTS ${tables.webhookMoved} AFTER UPDATE OF status, claimed_by ON ${tables.requests}
    WHEN old.status <> new.status OR old.claimed_by <> new.claimed_by BEGIN
      ${writeOutbox(tables, moved)}
    END;
  `;
}

/** Takes the triggers away. */
function dropOutboxTriggers(tables: QuotedTables): string {
  return `DROP TRIGGER IF EXISTS ${tables.webhookCreated}; DROP TRIGGER IF EXISTS ${tables.webhookMoved};`;
}

/** Prepares what administrators do to webhooks on one connection. */
export function prepareWebhookWrites(database: DatabaseSync, t: QuotedTables) {
  const select = database.prepare(`SELECT * FROM ${t.webhooks} WHERE id = ?`);
  const count = database.prepare(`SELECT count(*) AS webhooks FROM ${t.webhooks}`);
  const insert = database.prepare(`
    INSERT INTO ${t.webhooks} (id, url, events, chain_name, signer, label, enabled, created_at, updated_at, secret)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const rotate = database.prepare(`
    UPDATE ${t.webhooks} SET old_secret = secret, old_secret_until = ?, secret = ?, updated_at = ? WHERE id = ?`);
  const remove = database.prepare(`DELETE FROM ${t.webhooks} WHERE id = ?`);
  const removeDeliveries = database.prepare(`DELETE FROM ${t.deliveries} WHERE webhook_id = ?`);
  const change = prepareChange(database, t);
  const find = (webhookId: string) => {
    const row = select.get(webhookId);
    return row === undefined ? undefined : webhookOfRow(row);
  };
  const countAll = () => Number(count.get()?.webhooks);
  return {
    addWebhook({ webhookId, secret, now, ...target }: NewWebhook) {
      const { url, events, chainName = null, signer = null, label = null, enabled } = target;
      if (find(webhookId) === undefined && countAll() >= MAX_WEBHOOKS) return undefined;
      insert.run(webhookId, url, bitsOf(events), chainName, signer, label, enabled ? 1 : 0, now, now, secret);
      database.exec(createOutboxTriggers(t));
      return find(webhookId);
    },
    changeWebhook(input: Change) {
      change(input);
      return find(input.webhookId);
    },
    rotateWebhook({ webhookId, secret, now }: Rotation) {
      rotate.run(now + ROTATION_MS, secret, now, webhookId);
      return find(webhookId);
    },
    removeWebhook(webhookId: string) {
      const wasThere = remove.run(webhookId).changes > 0;
      removeDeliveries.run(webhookId);
      if (countAll() === 0) database.exec(dropOutboxTriggers(t));
      return wasThere;
    },
    resendDelivery: prepareResend(database, t),
  };
}
