import type { DeliveryOrder, DeliveryOutcome, DeliveryQueue, WebhookNotice } from '../../ports/webhookStore.ts';
import { evaluateRefusal, isGivenUp, nextAttemptAt, wasDown } from '../../rules/deliveries.ts';
import {
  type DueDelivery,
  endedExpiry,
  findWaiting,
  type HeldDelivery,
  listDue,
  postpone,
  readHeld,
} from './deliveryItem.ts';
import { type Item, type Table, update } from './items.ts';
import {
  changeHealth,
  type HealthChange,
  NEW_HEALTH,
  type RegisteredWebhook,
  readAllHealth,
  type StoredHealth,
  takeProbe,
  type WebhookRegister,
} from './webhookRegister.ts';

/** Most deliveries of a receiver that is back which are tried at once; the others are due soon. */
const HURRIED = 100;
/** Candidates that are looked at for one delivery: those behind an earlier one of their request are put off. */
const LOOKED_AT = 4;

interface QueueContext {
  readonly deliveries: Table;
  readonly webhooks: Pick<WebhookRegister, 'edit'>;
}

/** The queue of deliveries, one webhook at a time. */
export interface DynamoDeliveryQueue extends Pick<DeliveryQueue, 'finalize'> {
  takeOf(webhook: RegisteredWebhook, order: DeliveryOrder): Promise<readonly HeldDelivery[]>;
  /** When a webhook is looked at next, in milliseconds since the epoch; undefined: nothing waits. */
  dueAtOf(webhook: RegisteredWebhook): Promise<number | undefined>;
}

/** Takes one candidate, unless an earlier one of its request waits: then it is due when that one is, and again once that has ended. */
async function hold(deliveries: Table, { key, dueAt }: DueDelivery, until: number): Promise<Item | undefined> {
  const earlier = await findWaiting(deliveries, key, '<');
  if (earlier === undefined) return await postpone(deliveries, { key, from: dueAt, to: until });
  await postpone(deliveries, { key, from: dueAt, to: Math.max(earlier.dueAt, dueAt + 1) });
  return undefined;
}

async function takeOf(
  deliveries: Table,
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
async function write(deliveries: Table, { key, set, isOver }: Ending): Promise<boolean> {
  const { done } = await update(deliveries, {
    ...{ key, set, remove: isOver ? ['dueOf', 'dueAt'] : [], add: { attempts: 1 } },
    ...{ condition: '#status = :waiting', values: { ':waiting': 'waiting' } },
  });
  return done;
}

const answerOf = ({ status, error }: DeliveryOutcome) => ({
  ...(status !== undefined && { lastStatus: status }),
  ...(error !== undefined && { lastError: error }),
});

/** Ends a delivery; the next one of its request is due at once. */
async function end(deliveries: Table, key: Item, now: number, how: Item): Promise<void> {
  const set = { endedAt: now, expiresAt: endedExpiry(now), ...how };
  if (!(await write(deliveries, { key, set, isOver: true }))) return;
  const next = await findWaiting(deliveries, key, '>');
  if (next !== undefined && next.dueAt > now) await postpone(deliveries, { key: next.key, to: now });
}

/** Has what waits for a receiver be tried at once. */
export async function hurry(deliveries: Table, webhookId: string, now: number): Promise<void> {
  const later = await listDue(deliveries, { webhookId, after: now, limit: HURRIED });
  await Promise.all(later.map(({ key, dueAt }) => postpone(deliveries, { key, from: dueAt, to: now })));
}

/** The health of a receiver after a successful attempt. */
const healthy = (now: number): HealthChange => ({
  ...{ fails: 0, failingSince: undefined, pausedUntil: 0, probeUntil: 0, deliveredAt: now },
});

/** Makes the queue of what waits, which the stream's function has written. @see docs/specification.md WEBHOOK-5, WEBHOOK-6 */
export function createDeliveryQueue({ deliveries, webhooks }: QueueContext): DynamoDeliveryQueue {
  /** Deliveries taken by this process, by webhook and delivery: an outcome does not say where its delivery is stored. */
  const held = new Map<string, HeldDelivery>();
  const nameOf = ({ webhookId, deliveryId }: Pick<HeldDelivery, 'webhookId' | 'deliveryId'>) =>
    `${webhookId}/${deliveryId}`;

  async function finalizeGood(webhookId: string, now: number): Promise<WebhookNotice[]> {
    let isBack = false;
    await changeHealth(deliveries, webhookId, (health) => {
      isBack = wasDown(health);
      return healthy(now);
    });
    if (!isBack) return [];
    await hurry(deliveries, webhookId, now);
    return [{ webhookId, kind: 'recovered' }];
  }

  async function evaluate(one: DeliveryOutcome, now: number) {
    const { webhookId } = one;
    let evaluation: ReturnType<typeof evaluateRefusal>;
    let before: StoredHealth = NEW_HEALTH;
    await changeHealth(deliveries, webhookId, (health) => {
      before = health;
      evaluation = evaluateRefusal(health, one, now);
      if (evaluation === undefined) return undefined;
      const { state, disabledReason } = evaluation;
      const disabled = disabledReason === undefined ? {} : { disabledAt: now, disabledReason };
      return { ...state, ...disabled, probeUntil: 0 };
    });
    if (evaluation?.disabledReason !== undefined) {
      await webhooks.edit(webhookId, (webhook) => ({ ...webhook, enabled: false }));
    }
    const notices: WebhookNotice[] = (evaluation?.notices ?? []).map((item) => ({ webhookId, ...item }));
    return { notices, before };
  }

  async function finalizeBad(one: DeliveryOutcome, known: HeldDelivery, now: number): Promise<WebhookNotice[]> {
    const { notices, before } = await evaluate(one, now);
    const { key, webhookId, attempts } = known;
    const failedSince = Math.max(known.firstFailedAt ?? now, before.revivedAt);
    const failed = { firstFailedAt: failedSince, attempts: attempts + 1, failingSince: before.failingSince };
    if (isGivenUp(failed, now) && !notices.some((item) => item.kind === 'disabled')) {
      await end(deliveries, key, now, { status: 'failed', ...answerOf(one) });
      return [...notices, { webhookId, kind: 'given up', why: one.error ?? '' }];
    }
    const set = {
      dueAt: nextAttemptAt(attempts + 1, now),
      firstFailedAt: failedSince,
      ...answerOf(one),
    };
    await write(deliveries, { key, set, isOver: false });
    return notices;
  }

  async function finalizeOne(one: DeliveryOutcome, now: number): Promise<WebhookNotice[]> {
    const known = held.get(nameOf(one));
    held.delete(nameOf(one));
    if (known === undefined) return [];
    if (one.outcome === 'refused') return await finalizeBad(one, known, now);
    if (one.outcome === 'delivered') {
      await end(deliveries, known.key, now, { status: 'delivered', ...answerOf(one) });
    } else {
      await postpone(deliveries, { key: known.key, to: now });
      await changeHealth(deliveries, one.webhookId, ({ probeUntil }) =>
        probeUntil > 0 ? { probeUntil: 0 } : undefined,
      );
    }
    return [];
  }

  const readHealthOf = async ({ webhookId }: RegisteredWebhook) =>
    (await readAllHealth(deliveries)).get(webhookId) ?? NEW_HEALTH;

  return {
    async takeOf(webhook, order) {
      const taken = await takeOf(deliveries, { webhook, health: await readHealthOf(webhook) }, order);
      for (const one of taken) held.set(nameOf(one), one);
      return taken;
    },
    async dueAtOf(webhook) {
      if (!webhook.enabled) return undefined;
      const [health, [first]] = await Promise.all([
        readHealthOf(webhook),
        listDue(deliveries, { webhookId: webhook.webhookId, limit: 1 }),
      ]);
      return first && Math.max(first.dueAt, health.pausedUntil, health.probeUntil);
    },
    async finalize({ now, outcomes }) {
      const notices = (await Promise.all(outcomes.map((one) => finalizeOne(one, now)))).flat();
      const good = new Set(outcomes.filter(({ outcome }) => outcome === 'delivered').map(({ webhookId }) => webhookId));
      for (const webhookId of good) notices.push(...(await finalizeGood(webhookId, now)));
      return notices;
    },
  };
}
