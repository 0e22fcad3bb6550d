import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { isGivenUp, judgeRefusal, nextAttemptAt, wasDown } from '../../../ports/deliveryRules.ts';
import type { DeliveryOrder, DeliveryOutcome, DeliveryQueue, WebhookNews } from '../../../ports/webhookStore.ts';
import { askConditionally } from '../askStore.ts';
import { type Item, number, text } from '../attributes.ts';
import {
  changeHealth,
  type Deliveries,
  type HealthChange,
  NEW_HEALTH,
  type RegisteredWebhook,
  readAllHealth,
  type StoredHealth,
  takeProbe,
  type WebhookRegister,
} from '../webhookRegister.ts';
import {
  type DueDelivery,
  endedExpiry,
  findWaiting,
  type HeldDelivery,
  listDue,
  postpone,
  readHeld,
} from './deliveryItem.ts';

/** Most deliveries of a receiver that is back which are tried at once; the others are due soon. */
const HURRIED = 100;
/** Candidates that are looked at for one delivery: those behind an earlier one of their request are put off. */
const LOOKED_AT = 4;

interface QueueContext {
  readonly deliveries: Deliveries;
  readonly webhooks: Pick<WebhookRegister, 'list' | 'edit'>;
}

/** Deliveries in DynamoDB, which can be looked at one webhook at a time. */
export interface DynamoDeliveryQueue extends DeliveryQueue {
  takeOf(webhook: RegisteredWebhook, order: DeliveryOrder): Promise<readonly HeldDelivery[]>;
  /** When a webhook is looked at next, in milliseconds since the epoch; undefined: nothing waits. */
  dueAtOf(webhook: RegisteredWebhook): Promise<number | undefined>;
}

/** Takes one candidate, unless an earlier one of its request waits: then it is due when that one is, and again once that has ended. */
async function hold(deliveries: Deliveries, { key, dueAt }: DueDelivery, until: number): Promise<Item | undefined> {
  const earlier = await findWaiting(deliveries, key, '<');
  if (earlier === undefined) return await postpone(deliveries, { key, from: dueAt, to: until });
  await postpone(deliveries, { key, from: dueAt, to: Math.max(earlier.dueAt, dueAt + 1) });
  return undefined;
}

async function takeOf(
  deliveries: Deliveries,
  { webhook, health }: { readonly webhook: RegisteredWebhook; readonly health: StoredHealth },
  { now, holdMs, perWebhook, underWay }: DeliveryOrder,
): Promise<readonly HeldDelivery[]> {
  const { webhookId, enabled } = webhook;
  if (!enabled || health.pausedUntil > now || health.probeUntil > now) return [];
  const isProbe = health.fails > 0;
  const room = isProbe ? 1 : perWebhook - (underWay[webhookId] ?? 0);
  if (room <= 0) return [];
  const due = await listDue(deliveries, { webhookId, by: now, limit: LOOKED_AT * room });
  if (due.length === 0) return [];
  const until = now + holdMs;
  if (isProbe && !(await takeProbe(deliveries, webhookId, { now, until }))) return [];
  const taken: HeldDelivery[] = [];
  for (let from = 0; from < due.length && taken.length < room; ) {
    const candidates = due.slice(from, from + room - taken.length);
    from += candidates.length;
    const held = await Promise.all(candidates.map((one) => hold(deliveries, one, until)));
    for (const item of held) if (item !== undefined) taken.push(readHeld(item, webhook));
  }
  if (isProbe && taken.length === 0) await changeHealth(deliveries, webhookId, () => ({ probeUntil: 0 }));
  return taken;
}

interface Ending {
  readonly key: Item;
  readonly set: Item;
  readonly isOver: boolean;
}

/** Writes what became of an attempt. @returns whether the delivery was still waiting */
async function write({ client, name: TableName }: Deliveries, { key, set, isOver }: Ending): Promise<boolean> {
  const names = Object.keys(set);
  const command = new UpdateItemCommand({
    ...{ TableName, Key: key, ConditionExpression: '#status = :waiting' },
    UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')} ${
      isOver ? 'REMOVE dueOf, dueAt ' : ''
    }ADD attempts :one`,
    ExpressionAttributeNames: { ...Object.fromEntries(names.map((name) => [`#${name}`, name])), '#status': 'status' },
    ExpressionAttributeValues: {
      ...Object.fromEntries(Object.entries(set).map(([name, value]) => [`:${name}`, value])),
      ...{ ':waiting': text('waiting'), ':one': number(1) },
    },
  });
  return (await askConditionally(() => client.send(command))).done;
}

const answerOf = ({ status, error }: DeliveryOutcome): Item => ({
  ...(status !== undefined && { lastStatus: number(status) }),
  ...(error !== undefined && { lastError: text(error) }),
});

/** Ends a delivery; the next one of its request is due at once. */
async function end(
  deliveries: Deliveries,
  key: Item,
  {
    status,
    now,
    one,
  }: { readonly status: 'delivered' | 'failed'; readonly now: number; readonly one: DeliveryOutcome },
): Promise<void> {
  const set = { status: text(status), endedAt: number(now), expiresAt: endedExpiry(now), ...answerOf(one) };
  if (!(await write(deliveries, { key, set, isOver: true }))) return;
  const next = await findWaiting(deliveries, key, '>');
  if (next !== undefined && next.dueAt > now) await postpone(deliveries, { key: next.key, to: now });
}

/** Has what waits for a receiver be tried at once. */
export async function hurry(deliveries: Deliveries, webhookId: string, now: number): Promise<void> {
  const later = await listDue(deliveries, { webhookId, after: now, limit: HURRIED });
  await Promise.all(later.map(({ key, dueAt }) => postpone(deliveries, { key, from: dueAt, to: now })));
}

/** What an attempt that went well says of its receiver. */
const healthy = (now: number): HealthChange => ({
  ...{ fails: 0, failingSince: undefined, pausedUntil: 0, probeUntil: 0, deliveredAt: now },
});

/**
 * Makes the queue of what waits, which the stream's function has written.
 *
 * @see docs/specification.md WEBHOOK-5, WEBHOOK-6
 */
export function createDeliveryQueue({ deliveries, webhooks }: QueueContext): DynamoDeliveryQueue {
  /** What this process has taken, by webhook and delivery: what it is told of an outcome does not say where it stands. */
  const held = new Map<string, HeldDelivery>();
  const nameOf = ({ webhookId, deliveryId }: DeliveryOutcome) => `${webhookId}/${deliveryId}`;

  async function takeFor(webhook: RegisteredWebhook, health: StoredHealth, order: DeliveryOrder) {
    const taken = await takeOf(deliveries, { webhook, health }, order);
    for (const one of taken) held.set(nameOf({ ...one, outcome: 'returned' }), one);
    return taken;
  }

  async function settleGood(webhookId: string, now: number): Promise<WebhookNews[]> {
    let isBack = false;
    await changeHealth(deliveries, webhookId, (health) => {
      isBack = wasDown(health);
      return healthy(now);
    });
    if (!isBack) return [];
    await hurry(deliveries, webhookId, now);
    return [{ webhookId, news: 'recovered' }];
  }

  async function judge(one: DeliveryOutcome, now: number): Promise<{ news: WebhookNews[]; revivedAt: number }> {
    const { webhookId } = one;
    let judgement: ReturnType<typeof judgeRefusal>;
    let revivedAt = 0;
    await changeHealth(deliveries, webhookId, (health) => {
      revivedAt = health.revivedAt;
      judgement = judgeRefusal(health, one, now);
      if (judgement === undefined) return undefined;
      const { state, disabledReason } = judgement;
      const disabled = disabledReason === undefined ? {} : { disabledAt: now, disabledReason };
      return { ...state, ...disabled, probeUntil: 0 };
    });
    if (judgement?.disabledReason !== undefined) {
      await webhooks.edit(webhookId, (webhook) => ({ ...webhook, enabled: false }));
    }
    return { news: (judgement?.news ?? []).map((item) => ({ webhookId, ...item })), revivedAt };
  }

  async function settleBad(one: DeliveryOutcome, known: HeldDelivery, now: number): Promise<WebhookNews[]> {
    const { news, revivedAt } = await judge(one, now);
    const { key, webhookId, attempts } = known;
    const failedSince = Math.max(known.firstFailedAt ?? now, revivedAt);
    if (isGivenUp(failedSince, now) && !news.some((item) => item.news === 'disabled')) {
      await end(deliveries, key, { status: 'failed', now, one });
      return [...news, { webhookId, news: 'given up', why: one.error ?? '' }];
    }
    const set = {
      dueAt: number(nextAttemptAt(attempts + 1, now)),
      firstFailedAt: number(failedSince),
      ...answerOf(one),
    };
    await write(deliveries, { key, set, isOver: false });
    return news;
  }

  async function settleOne(one: DeliveryOutcome, now: number): Promise<WebhookNews[]> {
    const known = held.get(nameOf(one));
    held.delete(nameOf(one));
    if (known === undefined) return [];
    if (one.outcome === 'refused') return await settleBad(one, known, now);
    if (one.outcome === 'delivered') await end(deliveries, known.key, { status: 'delivered', now, one });
    else {
      await postpone(deliveries, { key: known.key, to: now });
      await changeHealth(deliveries, one.webhookId, ({ probeUntil }) =>
        probeUntil > 0 ? { probeUntil: 0 } : undefined,
      );
    }
    return [];
  }

  async function dueAtOf(webhook: RegisteredWebhook, health: StoredHealth): Promise<number | undefined> {
    if (!webhook.enabled) return undefined;
    const [first] = await listDue(deliveries, { webhookId: webhook.webhookId, limit: 1 });
    return first && Math.max(first.dueAt, health.pausedUntil, health.probeUntil);
  }

  async function readAll() {
    const [all, health] = await Promise.all([webhooks.list(), readAllHealth(deliveries)]);
    return all.map((webhook) => ({ webhook, health: health.get(webhook.webhookId) ?? NEW_HEALTH }));
  }

  async function readOne(webhook: RegisteredWebhook): Promise<StoredHealth> {
    return (await readAllHealth(deliveries)).get(webhook.webhookId) ?? NEW_HEALTH;
  }

  return {
    async nextDueAt() {
      const dues = await Promise.all((await readAll()).map(({ webhook, health }) => dueAtOf(webhook, health)));
      const known = dues.filter((at) => at !== undefined);
      return known.length === 0 ? undefined : Math.min(...known);
    },
    async countDropped() {
      return (await readAll()).reduce((sum, { health }) => sum + health.dropped, 0);
    },
    async take(order) {
      const all = await readAll();
      return (await Promise.all(all.map(({ webhook, health }) => takeFor(webhook, health, order)))).flat();
    },
    takeOf: async (webhook, order) => takeFor(webhook, await readOne(webhook), order),
    dueAtOf: async (webhook) => dueAtOf(webhook, await readOne(webhook)),
    async settle({ now, outcomes }) {
      const news = (await Promise.all(outcomes.map((one) => settleOne(one, now)))).flat();
      const good = new Set(outcomes.filter(({ outcome }) => outcome === 'delivered').map(({ webhookId }) => webhookId));
      for (const webhookId of good) news.push(...(await settleGood(webhookId, now)));
      return news;
    },
    // What is written here is written by others: they wake up whoever delivers.
    onCommitted: () => undefined,
  };
}
