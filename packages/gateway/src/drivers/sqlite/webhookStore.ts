import type { DeliveryQueue, WebhookStore } from '../../ports/webhookStore.ts';
import { readStore } from './createSnapshot.ts';
import type { SqliteContext } from './sqliteContext.ts';
import { deliveryOfRow, webhookOfRow } from './webhookRows.ts';

/** Webhooks and what waits for them, in SQLite. */
export interface SqliteWebhooks {
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryQueue;
}

function prepareReads({ database, tables }: Pick<SqliteContext, 'database' | 'tables'>) {
  const t = tables;
  const bySeq = 'AND seq < ? ORDER BY seq DESC LIMIT ?';
  return {
    all: database.prepare(`SELECT * FROM ${t.webhooks} ORDER BY created_at, id`),
    one: database.prepare(`SELECT * FROM ${t.webhooks} WHERE id = ?`),
    page: database.prepare(`SELECT * FROM ${t.deliveries} WHERE webhook_id = ? ${bySeq}`),
    pageOf: database.prepare(`SELECT * FROM ${t.deliveries} WHERE webhook_id = ? AND state = ? ${bySeq}`),
    dropped: database.prepare(`SELECT coalesce(sum(dropped), 0) AS events FROM ${t.webhooks}`),
    // Of one that is paused nothing is due before its pause has ended.
    due: database.prepare(`
      SELECT count(*) AS webhooks, min(CASE WHEN w.id NOT IN (SELECT value FROM json_each(?)) THEN
        max(w.paused_until, w.probe_until, (
          SELECT min(next_at) FROM ${t.deliveries} d WHERE d.webhook_id = w.id AND next_at IS NOT NULL
        )) END) AS at FROM ${t.webhooks} w WHERE w.enabled = 1`),
  };
}

/** Makes both stores of one file. */
export function createWebhookStore(context: SqliteContext): SqliteWebhooks {
  const { snapshot, writer } = context;
  const reads = prepareReads(context);
  const read = <T>(query: () => T): T => readStore(() => snapshot.read(query));
  const listeners = new Set<(moves: number) => void>();
  /** As far as this process knows; without any, a commit is nothing to look after. */
  let hasWebhooks = false;
  const tell = (moves: number) => {
    for (const listener of listeners) listener(moves);
  };
  const told = <T>(value: T): T => {
    hasWebhooks = true;
    tell(0);
    return value;
  };
  writer.onCommitted((moves) => {
    if (moves !== undefined && hasWebhooks) tell(moves.last - moves.after);
  });
  return {
    webhooks: {
      add: async (webhook) => told(await writer.write('addWebhook', webhook)),
      list: async () => read(() => reads.all.all()).map(webhookOfRow),
      async find(webhookId) {
        const row = read(() => reads.one.get(webhookId));
        return row && webhookOfRow(row);
      },
      change: async (change) => told(await writer.write('changeWebhook', change)),
      rotate: (rotation) => writer.write('rotateWebhook', rotation),
      remove: (webhookId) => writer.write('removeWebhook', webhookId),
      async listDeliveries({ webhookId, status, limit, after }) {
        const before = after === undefined ? Number.MAX_SAFE_INTEGER : Number(after) || 0;
        const rows = read(() =>
          status === undefined
            ? reads.page.all(webhookId, before, limit)
            : reads.pageOf.all(webhookId, status, before, limit),
        );
        return rows.map(deliveryOfRow);
      },
      resend: async (order) => told(await writer.write('resendDelivery', order)),
    },
    deliveries: {
      nextDueAt(except = []) {
        const { webhooks, at } = read(() => reads.due.get(JSON.stringify(except))) ?? {};
        hasWebhooks = webhooks !== 0;
        return typeof at === 'number' ? at : undefined;
      },
      countDropped: () => Number(read(() => reads.dropped.get())?.events),
      take: (order) => writer.write('takeDeliveries', order),
      settle: (order) => writer.write('settleDeliveries', order),
      onCommitted: (listener) => listeners.add(listener),
    },
  };
}
