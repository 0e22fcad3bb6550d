import { type DynamoDBClient, GetItemCommand, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { ReceiverState } from '../../ports/deliveryRules.ts';
import type { WebhookHealth, WebhookRecord } from '../../ports/webhookStore.ts';
import { askConditionally, askStore } from './askStore.ts';
import { type Item, number, readNumber, readText, text } from './attributes.ts';

/** Where deliveries are kept. */
export interface Deliveries {
  readonly client: DynamoDBClient;
  /** Name of the table. */
  readonly name: string;
}

/** The lane of the items that tell how receivers do, one a webhook. */
const HEALTH_LANE = 'health';

const healthKey = (webhookId: string): Item => ({ lane: text(HEALTH_LANE), place: text(webhookId) });

/** How a receiver does, as it is stored. Times are milliseconds since the epoch. */
export interface StoredHealth extends ReceiverState, Omit<WebhookHealth, 'waiting' | 'failingSince'> {
  /** Until when one delivery is tried, and no other. */
  readonly probeUntil: number;
  /** Deliveries that failed before then have a day from then on. */
  readonly revivedAt: number;
  /** When somebody is woken up to look at it. */
  readonly wakeAt: number;
  /** Grows with each change of the fields that are judged together. */
  readonly version: number;
}

const TIMES = ['droppedAt', 'deliveredAt', 'failingSince', 'disabledAt'] as const;
const COUNTS = ['fails', 'pausedUntil', 'probeUntil', 'revivedAt', 'wakeAt', 'version', 'dropped'] as const;

/** What is known of a webhook that nothing was sent to. */
export const NEW_HEALTH: StoredHealth = {
  ...{ fails: 0, pausedUntil: 0, probeUntil: 0, revivedAt: 0, wakeAt: 0, version: 0, dropped: 0 },
};

function readHealth(item: Item): StoredHealth {
  const given = [...TIMES, ...COUNTS].flatMap((name) =>
    item[name] === undefined ? [] : [[name, readNumber(item, name)]],
  );
  const reason = item.disabledReason === undefined ? {} : { disabledReason: readText(item, 'disabledReason') };
  // The names are those of its fields.
  return { ...NEW_HEALTH, ...(Object.fromEntries(given) as Partial<StoredHealth>), ...reason };
}

/** Reads how all receivers do, by their webhooks' ids. @throws DependencyUnavailableError */
export async function readAllHealth({ client, name }: Deliveries): Promise<ReadonlyMap<string, StoredHealth>> {
  const command = new QueryCommand({
    ...{ TableName: name, ConsistentRead: true, KeyConditionExpression: 'lane = :health' },
    ExpressionAttributeValues: { ':health': text(HEALTH_LANE) },
  });
  const { Items = [] } = await askStore(() => client.send(command));
  return new Map(Items.map((item) => [readText(item, 'place'), readHealth(item)]));
}

async function readHealthOf({ client, name: TableName }: Deliveries, webhookId: string): Promise<StoredHealth> {
  const command = new GetItemCommand({ TableName, Key: healthKey(webhookId), ConsistentRead: true });
  const { Item: item } = await askStore(() => client.send(command));
  return item === undefined ? NEW_HEALTH : readHealth(item);
}

/** Fields to write; undefined takes one away. */
export type HealthChange = {
  readonly [K in keyof Omit<StoredHealth, 'version'>]?: StoredHealth[K] | undefined;
};

interface Write {
  readonly webhookId: string;
  readonly change: HealthChange;
  readonly condition: string;
  readonly values: Item;
}

async function writeHealth(
  { client, name: TableName }: Deliveries,
  { webhookId, change, condition, values }: Write,
): Promise<boolean> {
  const fields = Object.entries(change);
  const sets = fields.flatMap(([name, value]) => (value === undefined ? [] : [`${name} = :${name}`]));
  const removes = fields.flatMap(([name, value]) => (value === undefined ? [name] : []));
  const given = fields.flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [[`:${name}`, typeof value === 'string' ? text(value) : number(value)] as const];
  });
  const command = new UpdateItemCommand({
    ...{ TableName, Key: healthKey(webhookId), ConditionExpression: condition },
    UpdateExpression: [
      ...(sets.length > 0 ? [`SET ${sets.join(', ')}`] : []),
      ...(removes.length > 0 ? [`REMOVE ${removes.join(', ')}`] : []),
      'ADD version :one',
    ].join(' '),
    ExpressionAttributeValues: { ...Object.fromEntries(given), ...values, ':one': number(1) },
  });
  return (await askConditionally(() => client.send(command))).done;
}

/** Tries of a change that others make at once. */
const MAX_HEALTH_TRIES = 8;

/**
 * Changes how a receiver is known to do, from what is known.
 *
 * @param judge - the change; undefined: none
 * @throws DependencyUnavailableError
 */
export async function changeHealth(
  deliveries: Deliveries,
  webhookId: string,
  judge: (health: StoredHealth) => HealthChange | undefined,
): Promise<void> {
  for (let tries = 0; tries < MAX_HEALTH_TRIES; tries++) {
    const known = await readHealthOf(deliveries, webhookId);
    const change = judge(known);
    if (change === undefined) return;
    const condition = known.version === 0 ? 'attribute_not_exists(version)' : 'version = :version';
    const values: Item = known.version === 0 ? {} : { ':version': number(known.version) };
    if (await writeHealth(deliveries, { webhookId, change, condition, values })) return;
  }
  await askStore(() =>
    Promise.reject(new Error(`the state of webhook ${webhookId} is changed by others all the time`)),
  );
}

/** Takes the one attempt that a receiver which fails is given. @returns whether it is the caller's */
export async function takeProbe(
  deliveries: Deliveries,
  webhookId: string,
  { now, until }: { readonly now: number; readonly until: number },
): Promise<boolean> {
  return await writeHealth(deliveries, {
    ...{ webhookId, change: { probeUntil: until }, values: { ':now': number(now) } },
    condition: 'attribute_not_exists(probeUntil) OR probeUntil <= :now',
  });
}

/** Notes when somebody will be woken up for a webhook. @returns whether nobody will be by then, so that it is the caller's to see to */
export async function noteWake(
  deliveries: Deliveries,
  webhookId: string,
  { now, at }: { readonly now: number; readonly at: number },
): Promise<boolean> {
  return await writeHealth(deliveries, {
    ...{ webhookId, change: { wakeAt: at }, values: { ':now': number(now) } },
    condition: 'attribute_not_exists(wakeAt) OR wakeAt <= :now OR wakeAt > :wakeAt',
  });
}

/** Counts events that found no room. */
export async function countDropped(
  { client, name: TableName }: Deliveries,
  webhookId: string,
  { events, at }: { readonly events: number; readonly at: number },
): Promise<void> {
  const command = new UpdateItemCommand({
    ...{ TableName, Key: healthKey(webhookId), UpdateExpression: 'ADD dropped :events SET droppedAt = :at' },
    ExpressionAttributeValues: { ':events': number(events), ':at': number(at) },
  });
  await askStore(() => client.send(command));
}

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
