import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { WebhookHealth, WebhookRecord } from '../../ports/webhookStore.ts';
import type { ReceiverState } from '../../rules/deliveries.ts';
import { type Item, queryAll, readFields, readItem, readText, type Table, type Update, update } from './items.ts';

/** Key of the item that holds all webhooks: an attribute each, so that one read has all, and a change of one harms no other. */
const WEBHOOKS_KEY: Item = { requestId: 'webhooks' };
/** A webhook's attribute in it. */
const PREFIX = 'w_';
/** Tries of a change that others make at once. */
const MAX_TRIES = 8;

/** Fails for an item that others keep changing. */
const contended = (what: string) =>
  new DependencyUnavailableError('store', { cause: new Error(`${what} is changed by others all the time`) });

/** A webhook as it is stored; how its deliveries go stands with them. */
export type RegisteredWebhook = Omit<WebhookRecord, 'health'>;

/** The attribute holds what this driver has written. */
const parse = (json: string): RegisteredWebhook => JSON.parse(json) as RegisteredWebhook;

/** Webhooks as they are registered, without how their deliveries go. Each function throws `DependencyUnavailableError`. */
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

/** The item of the requests' table that holds the webhooks. */
export function createWebhookRegister(requests: Table): WebhookRegister {
  async function read(): Promise<ReadonlyMap<string, string>> {
    const found = Object.entries((await readItem(requests, WEBHOOKS_KEY)) ?? {}).flatMap(([name, json]) =>
      name.startsWith(PREFIX) && typeof json === 'string' ? [[name.slice(PREFIX.length), json] as const] : [],
    );
    return new Map(found);
  }

  /** Replaces one attribute if it is as it was read. */
  async function replace(webhookId: string, was: string | undefined, next: string | undefined): Promise<boolean> {
    const name = `${PREFIX}${webhookId}`;
    const { done } = await update(requests, {
      ...{ key: WEBHOOKS_KEY, set: { [name]: next } },
      condition: was === undefined ? `attribute_not_exists(#${name})` : `#${name} = :was`,
      values: { ':was': was },
    });
    return done;
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
    add: async (webhook) => void (await replace(webhook.webhookId, undefined, JSON.stringify(webhook))),
    async edit(webhookId, change) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const was = (await read()).get(webhookId);
        if (was === undefined) return undefined;
        const next = JSON.stringify(change(parse(was)));
        if (await replace(webhookId, was, next)) return parse(next);
      }
      throw contended(`webhook ${webhookId}`);
    },
    async remove(webhookId) {
      const was = (await read()).get(webhookId);
      return was !== undefined && (await replace(webhookId, was, undefined));
    },
  };
}

/** The lane of the items that record how receivers do, one a webhook. */
const HEALTH_LANE = 'health';

const healthKey = (webhookId: string): Item => ({ lane: HEALTH_LANE, place: webhookId });

/** How a receiver does, as it is stored. Times are milliseconds since the epoch. */
export interface StoredHealth extends ReceiverState, Omit<WebhookHealth, 'waiting' | 'failingSince'> {
  /** Until when one delivery is tried, and no other. */
  readonly probeUntil: number;
  /** Deliveries that failed before then have a day from then on. */
  readonly revivedAt: number;
  /** When somebody is woken up to look at it. */
  readonly wakeAt: number;
  /** Grows with each change of the fields that are evaluated together. */
  readonly version: number;
}

const HEALTH_FIELDS = {
  ...({ fails: 'number', failingSince: 'number', pausedUntil: 'number', probeUntil: 'number' } as const),
  ...({ deliveredAt: 'number', disabledAt: 'number', disabledReason: 'text', dropped: 'number' } as const),
  ...({ droppedAt: 'number', revivedAt: 'number', wakeAt: 'number', version: 'number' } as const),
};

/** The health of a webhook that nothing was sent to. */
export const NEW_HEALTH: StoredHealth = {
  ...{ fails: 0, pausedUntil: 0, probeUntil: 0, revivedAt: 0, wakeAt: 0, version: 0, dropped: 0 },
};

const readHealth = (item: Item): StoredHealth => ({ ...NEW_HEALTH, ...readFields(item, {}, HEALTH_FIELDS) });

/** Reads how all receivers do, by their webhooks' ids. */
export async function readAllHealth(deliveries: Table): Promise<ReadonlyMap<string, StoredHealth>> {
  const query = { keys: 'lane = :health', values: { ':health': HEALTH_LANE }, consistent: true };
  const items = await queryAll(deliveries, query);
  return new Map(items.map((item) => [readText(item, 'place'), readHealth(item)]));
}

/** Fields to write; undefined takes one away. */
export type HealthChange = {
  readonly [K in keyof Omit<StoredHealth, 'version'>]?: StoredHealth[K] | undefined;
};

async function writeHealth(
  deliveries: Table,
  {
    webhookId,
    change,
    ...bound
  }: { readonly webhookId: string; readonly change: HealthChange } & Pick<Update, 'condition' | 'values'>,
): Promise<boolean> {
  const order = { key: healthKey(webhookId), set: change, add: { version: 1 }, ...bound };
  return (await update(deliveries, order)).done;
}

/** Changes how a receiver is known to do, from what is known. @param evaluate - the change; undefined: none */
export async function changeHealth(
  deliveries: Table,
  webhookId: string,
  evaluate: (health: StoredHealth) => HealthChange | undefined,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const item = await readItem(deliveries, healthKey(webhookId));
    const known = item === undefined ? NEW_HEALTH : readHealth(item);
    const change = evaluate(known);
    if (change === undefined) return;
    const bound =
      known.version === 0
        ? { condition: 'attribute_not_exists(#version)' }
        : { condition: '#version = :known', values: { ':known': known.version } };
    if (await writeHealth(deliveries, { webhookId, change, ...bound })) return;
  }
  throw contended(`the state of webhook ${webhookId}`);
}

/** Takes the one attempt that a receiver which fails is given. @returns whether it is the caller's */
export const takeProbe = (
  deliveries: Table,
  webhookId: string,
  { now, until }: { readonly now: number; readonly until: number },
) =>
  writeHealth(deliveries, {
    ...{ webhookId, change: { probeUntil: until }, values: { ':now': now } },
    condition: 'attribute_not_exists(#probeUntil) OR #probeUntil <= :now',
  });

/** Notes when somebody will be woken up for a webhook. @returns whether nobody will be by then, so that it is the caller's to see to */
export const recordWake = (
  deliveries: Table,
  webhookId: string,
  { now, at }: { readonly now: number; readonly at: number },
) =>
  writeHealth(deliveries, {
    ...{ webhookId, change: { wakeAt: at }, values: { ':now': now } },
    condition: 'attribute_not_exists(#wakeAt) OR #wakeAt <= :now OR #wakeAt > :wakeAt',
  });

/** Counts events that found no room. */
export async function countDropped(
  deliveries: Table,
  webhookId: string,
  { events, at }: { readonly events: number; readonly at: number },
) {
  const order = { set: { droppedAt: at }, add: { dropped: events } };
  await update(deliveries, { key: healthKey(webhookId), ...order });
}
