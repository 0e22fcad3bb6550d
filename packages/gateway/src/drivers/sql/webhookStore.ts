import type { DeliveryQueue, WebhookStore } from '../../ports/webhookStore.ts';
import { boundDue } from '../../rules/deliveries.ts';
import type { SqlContext } from './adminStore.ts';
import { deliveryOfRow, webhookOfRow } from './webhookRows.ts';

/** Webhooks and what waits for them. */
export interface SqlWebhooks {
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryQueue;
}

/**
 * Makes both stores of one database of SQL.
 *
 * @param onMoves - calls a listener with how many requests each commit has moved
 */
export function createWebhookStore(
  { read, write, tables: t }: SqlContext,
  onMoves: (listener: (moves: number) => void) => void,
): SqlWebhooks {
  const listeners = new Set<(moves: number) => void>();
  /** As far as this process knows; without any, a commit is nothing to look after. */
  let hasWebhooks = true;
  const notify = (moves: number) => {
    for (const listener of listeners) listener(moves);
  };
  const notified = <T>(value: T): T => {
    hasWebhooks = true;
    notify(0);
    return value;
  };
  onMoves((moves) => hasWebhooks && notify(moves));
  return {
    webhooks: {
      add: async (webhook) => notified(await write('addWebhook', webhook)),
      list: async () => (await read(`SELECT * FROM ${t.webhooks} ORDER BY created_at, id`)).map(webhookOfRow),
      async find(webhookId) {
        const [row] = await read(`SELECT * FROM ${t.webhooks} WHERE id = ?1`, webhookId);
        return row && webhookOfRow(row);
      },
      change: async (change) => notified(await write('changeWebhook', change)),
      rotate: (rotation) => write('rotateWebhook', rotation),
      remove: (webhookId) => write('removeWebhook', webhookId),
      async listDeliveries({ webhookId, status = null, requestId = null, limit, after }) {
        const before = after === undefined ? Number.MAX_SAFE_INTEGER : Number(after) || 0;
        const rows = await read(
          `SELECT * FROM ${t.deliveries} WHERE webhook_id = ?1 AND (CAST(?2 AS text) IS NULL OR state = ?2)
           AND (CAST(?3 AS text) IS NULL OR request_id = ?3) AND seq < ?4 ORDER BY seq DESC LIMIT ?5`,
          ...[webhookId, status, requestId, before, limit],
        );
        return rows.map(deliveryOfRow);
      },
      resend: async (order) => notified(await write('resendDelivery', order)),
    },
    deliveries: {
      async nextDueAt(now, except = []) {
        // At most twenty. Of one that is paused nothing is due before its pause has ended.
        const rows = await read(
          `SELECT id, paused_until, probe_until, (
             SELECT min(next_at) FROM ${t.deliveries} d WHERE d.webhook_id = w.id AND next_at IS NOT NULL
           ) AS next_at FROM ${t.webhooks} w WHERE enabled = 1`,
        );
        hasWebhooks = rows.length > 0;
        const due = rows.filter(({ id, next_at: at }) => at !== null && !except.includes(String(id)));
        const times = due.map((row) =>
          Math.max(...[row.paused_until, row.probe_until, row.next_at].map((at) => boundDue(Number(at), now))),
        );
        return times.length === 0 ? undefined : Math.min(...times);
      },
      async countDropped() {
        const [row] = await read(`SELECT coalesce(sum(dropped), 0) AS events FROM ${t.webhooks}`);
        return Number(row?.events);
      },
      take: (order) => write('takeDeliveries', order),
      finalize: (order) => write('finalizeDeliveries', order),
      onCommitted: (listener) => void listeners.add(listener),
    },
  };
}
