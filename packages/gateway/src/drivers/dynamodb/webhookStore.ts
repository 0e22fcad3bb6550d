import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  MAX_WEBHOOKS,
  ROTATION_MS,
  type WebhookRecord,
  type WebhookStore,
  type WebhookTarget,
} from '../../ports/webhookStore.ts';
import { askConditionally, askStore } from './askStore.ts';
import { type Item, text } from './attributes.ts';

/** Key of the item that holds all webhooks: an attribute each, so that one read tells all, and a change of one harms no other. */
const WEBHOOKS_KEY: Item = { requestId: text('webhooks') };
/** A webhook's attribute in it. */
const PREFIX = 'w_';
/** How often a change is made again where another one was faster. */
const MAX_TRIES = 5;

/** A webhook as it is stored; how its deliveries go is known to who delivers. */
type StoredWebhook = Omit<WebhookRecord, 'health'>;

const UNKNOWN_HEALTH = { waiting: 0, dropped: 0 } as const;

/** The attribute holds what this driver has written. */
const parse = (json: string): WebhookRecord => ({ ...(JSON.parse(json) as StoredWebhook), health: UNKNOWN_HEALTH });

function readAll(item: Item | undefined): Map<string, string> {
  const found = Object.entries(item ?? {}).flatMap(([name, { S: json }]) =>
    name.startsWith(PREFIX) && json !== undefined ? [[name.slice(PREFIX.length), json] as const] : [],
  );
  return new Map(found);
}

function applyTarget(webhook: WebhookRecord, target: WebhookTarget, now: number): StoredWebhook {
  const { webhookId, createdAt, secrets } = webhook;
  return { webhookId, ...target, createdAt, updatedAt: now, secrets };
}

/** Webhooks in DynamoDB: one item of the requests' table. What is moved is told by the table's stream, to the function that delivers. */
export function createWebhookStore(client: DynamoDBClient, TableName: string): WebhookStore {
  const Key = WEBHOOKS_KEY;

  async function readItem(): Promise<Item | undefined> {
    return (await askStore(() => client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true })))).Item;
  }

  /** Replaces one attribute if it is as it was read. */
  async function replace(webhookId: string, was: string | undefined, next: string | undefined): Promise<boolean> {
    const command = new UpdateItemCommand({
      TableName,
      Key,
      UpdateExpression: next === undefined ? 'REMOVE #w' : 'SET #w = :next',
      ConditionExpression: was === undefined ? 'attribute_not_exists(#w)' : '#w = :was',
      ExpressionAttributeNames: { '#w': `${PREFIX}${webhookId}` },
      ExpressionAttributeValues: {
        ...(next !== undefined && { ':next': text(next) }),
        ...(was !== undefined && { ':was': text(was) }),
      },
    });
    return (await askConditionally(() => client.send(command))).done;
  }

  async function edit(
    webhookId: string,
    change: (webhook: WebhookRecord) => StoredWebhook,
  ): Promise<WebhookRecord | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const was = readAll(await readItem()).get(webhookId);
      if (was === undefined) return undefined;
      const next = JSON.stringify(change(parse(was)));
      if (await replace(webhookId, was, next)) return parse(next);
    }
    return await askStore(() => Promise.reject(new Error(`webhook ${webhookId} is changed by others all the time`)));
  }

  return {
    async add({ secret, now, ...target }) {
      const known = readAll(await readItem());
      if (known.size >= MAX_WEBHOOKS) return undefined;
      const webhook: StoredWebhook = { ...target, createdAt: now, updatedAt: now, secrets: [{ secret }] };
      const json = JSON.stringify(webhook);
      // Refused: an earlier try of this call has stored it.
      await replace(target.webhookId, undefined, json);
      return parse(json);
    },
    async list() {
      const all = [...readAll(await readItem()).values()].map(parse);
      return all.sort((a, b) => a.createdAt - b.createdAt || (a.webhookId < b.webhookId ? -1 : 1));
    },
    async find(webhookId) {
      const json = readAll(await readItem()).get(webhookId);
      return json === undefined ? undefined : parse(json);
    },
    change: ({ webhookId, target, now }) => edit(webhookId, (webhook) => applyTarget(webhook, target, now)),
    rotate: ({ webhookId, secret, now }) =>
      edit(webhookId, ({ health: _, ...webhook }) => {
        const before = webhook.secrets.slice(0, 1).map((one) => ({ ...one, expiresAt: now + ROTATION_MS }));
        return { ...webhook, updatedAt: now, secrets: [{ secret }, ...before] };
      }),
    async remove(webhookId) {
      const was = readAll(await readItem()).get(webhookId);
      return was !== undefined && (await replace(webhookId, was, undefined));
    },
    listDeliveries: async () => undefined,
    resend: async () => 'missing',
  };
}
