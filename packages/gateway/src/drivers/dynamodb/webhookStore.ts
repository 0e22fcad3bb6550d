import {
  type DeliveryQuery,
  type DeliveryRecord,
  MAX_WEBHOOKS,
  ROTATION_MS,
  type WebhookRecord,
  type WebhookStore,
  type WebhookTarget,
} from '../../ports/webhookStore.ts';
import { MAX_WAITING } from '../../rules/deliveries.ts';
import { hurry } from './deliver.ts';
import { countWaiting, keyOf, readDelivery, waitingExpiry } from './deliveryItem.ts';
import { type Item, type Query, queryPage, type Table, update } from './items.ts';
import { deliveryIndexes } from './tables.ts';
import {
  changeHealth,
  createWebhookRegister,
  NEW_HEALTH,
  type RegisteredWebhook,
  readAllHealth,
  type StoredHealth,
} from './webhookRegister.ts';

/** Answers that one page asks the index for at most: of few that match among many, the next page shows the others. */
const MAX_ASKED = 20;

/** Lists a webhook's deliveries, newest first. */
async function listDeliveries(deliveries: Table, query: DeliveryQuery): Promise<readonly DeliveryRecord[]> {
  const { webhookId, status, requestId, after, limit } = query;
  const filters = [...(status ? ['#status = :status'] : []), ...(requestId ? ['requestId = :request'] : [])];
  const asked: Query = {
    ...{ index: deliveryIndexes.webhook.name, order: 'desc' },
    keys: `webhookId = :of${after === undefined ? '' : ' AND deliveryId < :after'}`,
    ...(filters.length === 0 ? { limit } : { filter: filters.join(' AND ') }),
    values: { ':of': webhookId, ':after': after, ':status': status, ':request': requestId },
  };
  const found: DeliveryRecord[] = [];
  let place: Item | undefined;
  for (let pages = 0; pages < MAX_ASKED && found.length < limit; pages++) {
    const { items, next } = await queryPage(deliveries, asked, place);
    found.push(...items.map(readDelivery));
    place = next;
    if (place === undefined) break;
  }
  return found.slice(0, limit);
}

/** Has an ended delivery be sent once more. */
async function resendDelivery(
  deliveries: Table,
  { webhookId, deliveryId, now }: Parameters<WebhookStore['resend']>[0],
): ReturnType<WebhookStore['resend']> {
  const { items } = await queryPage(deliveries, {
    ...{ index: deliveryIndexes.webhook.name, keys: 'webhookId = :of AND deliveryId = :id' },
    values: { ':of': webhookId, ':id': deliveryId },
  });
  if (items[0] === undefined) return 'missing';
  const { done, item } = await update(deliveries, {
    key: keyOf(items[0]),
    set: {
      ...{ status: 'waiting', attempts: 0, dueOf: webhookId, dueAt: now },
      expiresAt: waitingExpiry(now),
    },
    remove: ['endedAt', 'firstFailedAt'],
    condition: '#status IN (:delivered, :failed)',
    values: { ':delivered': 'delivered', ':failed': 'failed' },
  });
  if (done) return readDelivery(item ?? {});
  return item === undefined ? 'missing' : 'waiting';
}

function applyTarget(webhook: RegisteredWebhook, target: WebhookTarget, now: number): RegisteredWebhook {
  const { webhookId, createdAt, secrets } = webhook;
  return { webhookId, ...target, createdAt, updatedAt: now, secrets };
}

/** Adds how deliveries go. @param waiting - how many do */
function withHealth(webhook: RegisteredWebhook, health: StoredHealth, waiting: number): WebhookRecord {
  const { dropped, droppedAt, deliveredAt, failingSince, disabledAt, disabledReason } = health;
  const history = { droppedAt, deliveredAt, failingSince, disabledAt, disabledReason };
  const given = Object.entries(history).filter(([, value]) => value !== undefined);
  return { ...webhook, health: { waiting, dropped, ...Object.fromEntries(given) } };
}

/** Begins anew with a webhook that is enabled: what waits has another day. */
async function revive(deliveries: Table, webhookId: string, now: number): Promise<void> {
  await changeHealth(deliveries, webhookId, ({ version }) => {
    if (version === 0) return undefined;
    const forgotten = { failingSince: undefined, disabledAt: undefined, disabledReason: undefined };
    return { ...forgotten, fails: 0, pausedUntil: 0, probeUntil: 0, revivedAt: now };
  });
  await hurry(deliveries, webhookId, now);
}

/** Webhooks in DynamoDB: one item of the requests' table. What is moved is reported by the table's stream, to the function that delivers. */
export function createWebhookStore({
  requests,
  deliveries,
}: {
  readonly requests: Table;
  readonly deliveries: Table;
}): WebhookStore {
  const register = createWebhookRegister(requests);

  async function complete(webhooks: readonly RegisteredWebhook[]): Promise<readonly WebhookRecord[]> {
    if (webhooks.length === 0) return [];
    const health = await readAllHealth(deliveries);
    const waiting = await Promise.all(
      webhooks.map(({ webhookId }) => countWaiting(deliveries, webhookId, MAX_WAITING)),
    );
    return webhooks.map((one, i) => withHealth(one, health.get(one.webhookId) ?? NEW_HEALTH, waiting[i] ?? 0));
  }

  async function completeOne(webhook: RegisteredWebhook | undefined): Promise<WebhookRecord | undefined> {
    return webhook && (await complete([webhook]))[0];
  }

  return {
    async add({ secret, now, ...target }) {
      if ((await register.list()).length >= MAX_WEBHOOKS) return undefined;
      const webhook: RegisteredWebhook = { ...target, createdAt: now, updatedAt: now, secrets: [{ secret }] };
      // Refused: an earlier try of this call has stored it.
      await register.add(webhook);
      return await completeOne(webhook);
    },
    list: async () => await complete(await register.list()),
    find: async (webhookId) => await completeOne(await register.find(webhookId)),
    async change({ webhookId, target, now }) {
      const changed = await register.edit(webhookId, (webhook) => applyTarget(webhook, target, now));
      if (changed?.enabled) await revive(deliveries, webhookId, now);
      return await completeOne(changed);
    },
    async rotate({ webhookId, secret, now }) {
      const rotated = await register.edit(webhookId, (webhook) => {
        const before = webhook.secrets.slice(0, 1).map((one) => ({ ...one, expiresAt: now + ROTATION_MS }));
        return { ...webhook, updatedAt: now, secrets: [{ secret }, ...before] };
      });
      return await completeOne(rotated);
    },
    // Its waiting deliveries are read by nobody, and expire.
    remove: register.remove,
    listDeliveries: (query) => listDeliveries(deliveries, query),
    resend: (order) => resendDelivery(deliveries, order),
  };
}
