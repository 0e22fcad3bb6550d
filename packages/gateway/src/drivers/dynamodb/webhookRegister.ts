import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { WebhookRecord } from '../../ports/webhookStore.ts';
import { askConditionally, askStore } from './askStore.ts';
import { type Item, text } from './attributes.ts';

/** Key of the item that holds all webhooks: an attribute each, so that one read tells all, and a change of one harms no other. */
const WEBHOOKS_KEY: Item = { requestId: text('webhooks') };
/** A webhook's attribute in it. */
const PREFIX = 'w_';
/** How often a change is made again where another one was faster. */
const MAX_TRIES = 5;

/** A webhook as it is stored; how its deliveries go stands with them. */
export type RegisteredWebhook = Omit<WebhookRecord, 'health'>;

/** The attribute holds what this driver has written. */
const parse = (json: string): RegisteredWebhook => JSON.parse(json) as RegisteredWebhook;

function readAll(item: Item | undefined): Map<string, string> {
  const found = Object.entries(item ?? {}).flatMap(([name, { S: json }]) =>
    name.startsWith(PREFIX) && json !== undefined ? [[name.slice(PREFIX.length), json] as const] : [],
  );
  return new Map(found);
}

/** Webhooks as they are registered, without how their deliveries go. */
export interface WebhookRegister {
  /** All, oldest first. */
  list(): Promise<readonly RegisteredWebhook[]>;
  find(webhookId: string): Promise<RegisteredWebhook | undefined>;
  /** Adds one unless it is there: an earlier try of the call has added it then. */
  add(webhook: RegisteredWebhook): Promise<void>;
  /** @returns undefined: there is none */
  edit(
    webhookId: string,
    change: (webhook: RegisteredWebhook) => RegisteredWebhook,
  ): Promise<RegisteredWebhook | undefined>;
  /** @returns whether there was one */
  remove(webhookId: string): Promise<boolean>;
}

/** The item of the requests' table that holds the webhooks. @throws DependencyUnavailableError */
export function createWebhookRegister(client: DynamoDBClient, TableName: string): WebhookRegister {
  const Key = WEBHOOKS_KEY;

  async function read(): Promise<Map<string, string>> {
    const { Item: item } = await askStore(() =>
      client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true })),
    );
    return readAll(item);
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
    change: (webhook: RegisteredWebhook) => RegisteredWebhook,
  ): Promise<RegisteredWebhook | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const was = (await read()).get(webhookId);
      if (was === undefined) return undefined;
      const next = JSON.stringify(change(parse(was)));
      if (await replace(webhookId, was, next)) return parse(next);
    }
    return await askStore(() => Promise.reject(new Error(`webhook ${webhookId} is changed by others all the time`)));
  }

  return {
    async list() {
      const all = [...(await read()).values()].map(parse);
      return all.sort((a, b) => a.createdAt - b.createdAt || (a.webhookId < b.webhookId ? -1 : 1));
    },
    async find(webhookId) {
      const json = (await read()).get(webhookId);
      return json === undefined ? undefined : parse(json);
    },
    async add(webhook) {
      await replace(webhook.webhookId, undefined, JSON.stringify(webhook));
    },
    edit,
    async remove(webhookId) {
      const was = (await read()).get(webhookId);
      return was !== undefined && (await replace(webhookId, was, undefined));
    },
  };
}
