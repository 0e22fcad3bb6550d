import {
  type DeliveryRecord,
  MAX_WEBHOOKS,
  type NewWebhook,
  ROTATION_MS,
  type WebhookRecord,
  type WebhookTarget,
} from '../../ports/webhookStore.ts';
import { run, runOne, type SqlWrite } from './sqlWrite.ts';
import { bitsOf, deliveryOfRow, webhookOfRow } from './webhookRows.ts';

/** Names of the tables, quoted. */
export interface WebhookTables {
  readonly webhooks: string;
  readonly deliveries: string;
}

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

/** Administrators' writes on webhooks, with the input and result of each. */
export interface WebhookWrites {
  addWebhook: { readonly input: NewWebhook; readonly result: WebhookRecord | undefined };
  changeWebhook: { readonly input: Change; readonly result: WebhookRecord | undefined };
  rotateWebhook: { readonly input: Rotation; readonly result: WebhookRecord | undefined };
  removeWebhook: { readonly input: string; readonly result: boolean };
  resendDelivery: { readonly input: Resend; readonly result: DeliveryRecord | 'missing' | 'waiting' };
}

/** Administrators' writes on webhooks, for any SQL database. */
export function createWebhookWrites({ webhooks, deliveries }: WebhookTables) {
  function* find(webhookId: string): SqlWrite<WebhookRecord | undefined> {
    const row = yield* runOne(`SELECT * FROM ${webhooks} WHERE id = ?1`, webhookId);
    return row && webhookOfRow(row);
  }

  function* countAll(): SqlWrite<number> {
    return Number((yield* runOne(`SELECT count(*) AS webhooks FROM ${webhooks}`))?.webhooks);
  }

  /** Starts a re-enabled webhook anew: each delivery has another day, and is tried at once. */
  function* revive(webhookId: string, now: number): SqlWrite<void> {
    yield* run(
      `UPDATE ${webhooks} SET fails = 0, failing_since = NULL, paused_until = 0, probe_until = 0, disabled_at = NULL,
        disabled_reason = NULL WHERE id = ?1`,
      webhookId,
    );
    yield* run(
      `UPDATE ${deliveries} SET first_failed_at = NULL, next_at = CASE WHEN next_at > ?1 THEN ?1 ELSE next_at END
       WHERE webhook_id = ?2 AND next_at IS NOT NULL AND attempts > 0`,
      now,
      webhookId,
    );
  }

  return {
    *addWebhook({ webhookId, secret, now, ...target }: NewWebhook): SqlWrite<WebhookRecord | undefined> {
      const { url, events, chainName = null, signer = null, label = null, enabled } = target;
      if ((yield* find(webhookId)) === undefined && (yield* countAll()) >= MAX_WEBHOOKS) return undefined;
      yield* run(
        `INSERT INTO ${webhooks} (id, url, events, chain_name, signer, label, enabled, created_at, updated_at, secret)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)`,
        ...[webhookId, url, bitsOf(events), chainName, signer, label, enabled ? 1 : 0, now, secret],
      );
      return yield* find(webhookId);
    },
    *changeWebhook({ webhookId, target, now }: Change): SqlWrite<WebhookRecord | undefined> {
      const { url, events, chainName = null, signer = null, label = null, enabled } = target;
      yield* run(
        `UPDATE ${webhooks} SET url = ?1, events = ?2, chain_name = ?3, signer = ?4, label = ?5, enabled = ?6,
          updated_at = ?7 WHERE id = ?8`,
        ...[url, bitsOf(events), chainName, signer, label, enabled ? 1 : 0, now, webhookId],
      );
      if (enabled) yield* revive(webhookId, now);
      return yield* find(webhookId);
    },
    *rotateWebhook({ webhookId, secret, now }: Rotation): SqlWrite<WebhookRecord | undefined> {
      yield* run(
        `UPDATE ${webhooks} SET old_secret = secret, old_secret_until = ?1, secret = ?2, updated_at = ?3 WHERE id = ?4`,
        ...[now + ROTATION_MS, secret, now, webhookId],
      );
      return yield* find(webhookId);
    },
    *removeWebhook(webhookId: string): SqlWrite<boolean> {
      const removed = yield* run(`DELETE FROM ${webhooks} WHERE id = ?1 RETURNING id`, webhookId);
      yield* run(`DELETE FROM ${deliveries} WHERE webhook_id = ?1`, webhookId);
      return removed.length > 0;
    },
    *resendDelivery({ webhookId, deliveryId, now }: Resend): SqlWrite<WebhookWrites['resendDelivery']['result']> {
      if (!/^\d{1,15}$/.test(deliveryId)) return 'missing';
      const select = `SELECT * FROM ${deliveries} WHERE seq = ?1 AND webhook_id = ?2`;
      const row = yield* runOne(select, Number(deliveryId), webhookId);
      if (row === undefined) return 'missing';
      if (row.state === 'waiting') return 'waiting';
      yield* run(
        `UPDATE ${deliveries} SET state = 'waiting', attempts = 0, next_at = ?1, first_failed_at = NULL, ended_at = NULL
         WHERE seq = ?2`,
        ...[now, Number(row.seq)],
      );
      yield* run(`UPDATE ${webhooks} SET waiting = waiting + 1 WHERE id = ?1`, webhookId);
      return deliveryOfRow((yield* runOne(select, Number(deliveryId), webhookId)) ?? row);
    },
  };
}
