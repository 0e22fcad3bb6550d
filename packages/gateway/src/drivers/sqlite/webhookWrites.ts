import type { DatabaseSync } from 'node:sqlite';
import {
  type DeliveryRecord,
  MAX_WEBHOOKS,
  type NewWebhook,
  ROTATION_MS,
  type WebhookRecord,
  type WebhookTarget,
} from '../../ports/webhookStore.ts';
import type { QuotedTables } from './tables.ts';
import { bitsOf, deliveryOfRow, type Row, webhookOfRow } from './webhookRows.ts';
import { createOutboxTriggers, dropOutboxTriggers, quoteWebhookTables } from './webhookTables.ts';

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
function prepareResend(database: DatabaseSync, t: ReturnType<typeof quoteWebhookTables>) {
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
function prepareChange(database: DatabaseSync, t: ReturnType<typeof quoteWebhookTables>) {
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

/** Prepares what administrators do to webhooks on one connection. */
export function prepareWebhookWrites(database: DatabaseSync, tables: QuotedTables) {
  const t = quoteWebhookTables(tables);
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
      database.exec(createOutboxTriggers(tables));
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
      if (countAll() === 0) database.exec(dropOutboxTriggers(tables));
      return wasThere;
    },
    resendDelivery: prepareResend(database, t),
  };
}
