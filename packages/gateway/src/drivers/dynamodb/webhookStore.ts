import { type DynamoDBClient, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { MAX_WAITING } from '../../ports/deliveryRules.ts';
import {
  type DeliveryQuery,
  type DeliveryRecord,
  MAX_WEBHOOKS,
  ROTATION_MS,
  type WebhookRecord,
  type WebhookStore,
  type WebhookTarget,
} from '../../ports/webhookStore.ts';
import { askConditionally, askStore } from './askStore.ts';
import { type Item, number, text } from './attributes.ts';
import { hurry } from './deliveries/createDeliveryQueue.ts';
import { countWaiting, keyOf, readDelivery, waitingExpiry } from './deliveries/deliveryItem.ts';
import { deliveryIndexes } from './tables.ts';
import {
  changeHealth,
  createWebhookRegister,
  type Deliveries,
  NEW_HEALTH,
  type RegisteredWebhook,
  readAllHealth,
  type StoredHealth,
} from './webhookRegister.ts';

/** Answers that one page asks the index for at most: of few that match among many, the next page shows the others. */
const MAX_ASKED = 20;

interface PageQuery {
  readonly query: DeliveryQuery;
  readonly startKey: Item | undefined;
}

async function readPage({ client, name }: Deliveries, { query, startKey }: PageQuery) {
  const { webhookId, status, after } = query;
  const command = new QueryCommand({
    ...{ TableName: name, IndexName: deliveryIndexes.webhook.name, ScanIndexForward: false },
    KeyConditionExpression: `webhookId = :of${after === undefined ? '' : ' AND deliveryId < :after'}`,
    ...(status !== undefined && {
      FilterExpression: '#status = :status',
      ExpressionAttributeNames: { '#status': 'status' },
    }),
    ExpressionAttributeValues: {
      ':of': text(webhookId),
      ...(after !== undefined && { ':after': text(after) }),
      ...(status !== undefined && { ':status': text(status) }),
    },
    ...(status === undefined && { Limit: query.limit }),
    ...(startKey !== undefined && { ExclusiveStartKey: startKey }),
  });
  return await askStore(() => client.send(command));
}

/** Lists a webhook's deliveries, newest first. @throws DependencyUnavailableError */
async function listDeliveries(deliveries: Deliveries, query: DeliveryQuery): Promise<readonly DeliveryRecord[]> {
  const found: DeliveryRecord[] = [];
  let startKey: Item | undefined;
  for (let asked = 0; asked < MAX_ASKED && found.length < query.limit; asked++) {
    const { Items = [], LastEvaluatedKey } = await readPage(deliveries, { query, startKey });
    found.push(...Items.map(readDelivery));
    startKey = LastEvaluatedKey;
    if (startKey === undefined) break;
  }
  return found.slice(0, query.limit);
}

async function findKey({ client, name }: Deliveries, webhookId: string, deliveryId: string): Promise<Item | undefined> {
  const command = new QueryCommand({
    ...{ TableName: name, IndexName: deliveryIndexes.webhook.name },
    KeyConditionExpression: 'webhookId = :of AND deliveryId = :id',
    ExpressionAttributeValues: { ':of': text(webhookId), ':id': text(deliveryId) },
  });
  const { Items = [] } = await askStore(() => client.send(command));
  return Items[0] && keyOf(Items[0]);
}

/** Has an ended delivery be sent once more. @throws DependencyUnavailableError */
async function resendDelivery(
  deliveries: Deliveries,
  { webhookId, deliveryId, now }: Parameters<WebhookStore['resend']>[0],
): ReturnType<WebhookStore['resend']> {
  const { client, name: TableName } = deliveries;
  const Key = await findKey(deliveries, webhookId, deliveryId);
  if (Key === undefined) return 'missing';
  const command = new UpdateItemCommand({
    ...{ TableName, Key, ReturnValues: 'ALL_NEW', ConditionExpression: '#status IN (:delivered, :failed)' },
    UpdateExpression:
      'SET #status = :waiting, attempts = :none, dueOf = :of, dueAt = :now, expiresAt = :kept REMOVE endedAt, firstFailedAt',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ...{ ':delivered': text('delivered'), ':failed': text('failed'), ':waiting': text('waiting') },
      ...{ ':none': number(0), ':of': text(webhookId), ':now': number(now), ':kept': waitingExpiry(now) },
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  const answer = await askConditionally(() => client.send(command));
  if (!answer.done) return answer.item === undefined ? 'missing' : 'waiting';
  return readDelivery(answer.output.Attributes ?? {});
}

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
