import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { MAX_WAITING } from '../../ports/deliveryRules.ts';
import {
  MAX_WEBHOOKS,
  ROTATION_MS,
  type WebhookRecord,
  type WebhookStore,
  type WebhookTarget,
} from '../../ports/webhookStore.ts';
import { hurry } from './deliveries/createDeliveryQueue.ts';
import { countWaiting } from './deliveries/dueDeliveries.ts';
import { listDeliveries, resendDelivery } from './deliveries/listDeliveries.ts';
import {
  changeHealth,
  type Deliveries,
  NEW_HEALTH,
  readAllHealth,
  type StoredHealth,
} from './deliveries/webhookHealth.ts';
import { createWebhookRegister, type RegisteredWebhook } from './webhookRegister.ts';

function applyTarget(webhook: RegisteredWebhook, target: WebhookTarget, now: number): RegisteredWebhook {
  const { webhookId, createdAt, secrets } = webhook;
  return { webhookId, ...target, createdAt, updatedAt: now, secrets };
}

/** Adds how deliveries go. @param waiting - how many do */
function withHealth(webhook: RegisteredWebhook, health: StoredHealth, waiting: number): WebhookRecord {
  const { dropped, droppedAt, deliveredAt, failingSince, disabledAt, disabledReason } = health;
  const told = { droppedAt, deliveredAt, failingSince, disabledAt, disabledReason };
  const given = Object.entries(told).filter(([, value]) => value !== undefined);
  return { ...webhook, health: { waiting, dropped, ...Object.fromEntries(given) } };
}

/** Begins anew with a webhook that is enabled: what waits has another day. */
async function revive(deliveries: Deliveries, webhookId: string, now: number): Promise<void> {
  await changeHealth(deliveries, webhookId, ({ version }) => {
    if (version === 0) return undefined;
    const forgotten = { failingSince: undefined, disabledAt: undefined, disabledReason: undefined };
    return { ...forgotten, fails: 0, pausedUntil: 0, probeUntil: 0, revivedAt: now };
  });
  await hurry(deliveries, webhookId, now);
}

/**
 * Webhooks in DynamoDB: one item of the requests' table. What is moved is told by the table's stream, to the function that delivers.
 *
 * @param requests - name of the requests' table
 * @param name - of that of deliveries
 */
export function createWebhookStore(
  client: DynamoDBClient,
  { requests, deliveries: name }: { readonly requests: string; readonly deliveries: string },
): WebhookStore {
  const deliveries = { client, name };
  const register = createWebhookRegister(client, requests);

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
    // What waited for it is read by nobody, and expires.
    remove: register.remove,
    listDeliveries: (query) => listDeliveries(deliveries, query),
    resend: (order) => resendDelivery(deliveries, order),
  };
}
