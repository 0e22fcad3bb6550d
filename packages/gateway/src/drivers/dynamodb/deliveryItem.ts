import type { DeliveryRecord, TakenDelivery, WebhookRecord } from '../../ports/webhookStore.ts';
import { type MessageFacts, messageIdOf, writeMessageBody } from '../../rules/webhookMessage.ts';
import { type Item, queryPage, readFields, readNumber, type Table, update } from './items.ts';
import { deliveryIndexes } from './tables.ts';

/** A delivery as the index shows it. */
export interface DueDelivery {
  readonly key: Item;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
}

const readDue = (item: Item): DueDelivery => ({ key: keyOf(item), dueAt: readNumber(item, 'dueAt') });

interface DueQuery {
  readonly webhookId: string;
  /** Those due then or before, or, the other way round, after; milliseconds since the epoch. */
  readonly by?: number;
  readonly after?: number;
  readonly limit: number;
}

/** Lists what waits for a webhook, what is due first first; the index may lag behind. */
export async function listDue(
  deliveries: Table,
  { webhookId, by, after, limit }: DueQuery,
): Promise<readonly DueDelivery[]> {
  const range = (by ?? after) === undefined ? '' : ` AND dueAt ${by === undefined ? '>' : '<='} :bound`;
  const { items } = await queryPage(deliveries, {
    ...{ index: deliveryIndexes.due.name, keys: `dueOf = :of${range}`, limit },
    values: { ':of': webhookId, ':bound': by ?? after },
  });
  return items.map(readDue);
}

/** Counts what waits for a webhook. @param atMost - counts no further */
export async function countWaiting(deliveries: Table, webhookId: string, atMost: number): Promise<number> {
  const query = { index: deliveryIndexes.due.name, keys: 'dueOf = :of', values: { ':of': webhookId } };
  let sum = 0;
  let after: Item | undefined;
  do {
    const { count, next } = await queryPage(deliveries, { ...query, limit: atMost - sum, countsOnly: true }, after);
    sum += count;
    after = next;
  } while (after !== undefined && sum < atMost);
  return sum;
}

interface Postponement {
  readonly key: Item;
  /** As it was seen; absent: whenever it is. */
  readonly from?: number;
  readonly to: number;
}

/**
 * Has a delivery that waits be due at another time, unless somebody else has been faster.
 *
 * @returns the delivery as it then stands; undefined: it has ended, or is somebody else's
 */
export async function postpone(deliveries: Table, { key, from, to }: Postponement): Promise<Item | undefined> {
  const { done, item } = await update(deliveries, {
    ...{ key, set: { dueAt: to } },
    condition: `#status = :waiting${from === undefined ? '' : ' AND #dueAt = :from'}`,
    values: { ':waiting': 'waiting', ':from': from },
  });
  return done ? item : undefined;
}

/** Finds what waits in a lane on one side of a place. @returns the first; undefined: nothing does */
export async function findWaiting(deliveries: Table, key: Item, side: '<' | '>'): Promise<DueDelivery | undefined> {
  const { items } = await queryPage(deliveries, {
    ...{ keys: `lane = :lane AND place ${side} :place`, filter: '#status = :waiting', consistent: true },
    values: { ':lane': key.lane, ':place': key.place, ':waiting': 'waiting' },
  });
  return items[0] && readDue(items[0]);
}

const SECONDS_PER_DAY = 86_400;
/** Digits of a time in milliseconds, until the year 2286. */
const TIME_DIGITS = 13;

/** When what is kept for some days is forgotten. */
const expiryIn = (days: number) => (now: number) => Math.floor(now / 1000) + days * SECONDS_PER_DAY;
/** When a delivery that ends now is forgotten. */
export const endedExpiry = expiryIn(7);
/** When one that waits is forgotten, whatever becomes of its webhook. */
export const waitingExpiry = expiryIn(30);

/** Key of a delivery. */
export const keyOf = (item: Item): Item => readFields(item, { lane: 'text', place: 'text' });

interface NewDelivery extends MessageFacts {
  readonly webhookId: string;
  /** Where the event stands among those of its request: text that grows. */
  readonly place: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Makes the item of an event on its way to one webhook: the same whoever makes it, and how often. */
export function createDeliveryItem({ webhookId, place, now, ...facts }: NewDelivery): Item {
  const { event, at, record } = facts;
  const { requestId } = record;
  return {
    // One webhook's deliveries of one request are one lane.
    ...{ lane: `${webhookId}#${requestId}`, place, webhookId },
    deliveryId: `${String(at).padStart(TIME_DIGITS, '0')}-${place}`,
    messageId: messageIdOf([webhookId, place, requestId, event, at]),
    ...{ requestId, event, at, body: writeMessageBody(facts) },
    ...{ status: 'waiting', attempts: 0, dueOf: webhookId, dueAt: now },
    expiresAt: waitingExpiry(now),
  };
}

const SENT = { deliveryId: 'text', messageId: 'text', attempts: 'number' } as const;

/** Reads a delivery as it is listed. */
export function readDelivery(item: Item): DeliveryRecord {
  const { event, status, at, dueAt, ...fields } = readFields(
    item,
    { ...SENT, requestId: 'text', event: 'text', status: 'text', at: 'number' },
    { dueAt: 'number', lastError: 'text', endedAt: 'number', lastStatus: 'number' },
  );
  return {
    ...fields,
    // Written by this driver from values of these types.
    ...{ event: event as DeliveryRecord['event'], status: status as DeliveryRecord['status'], createdAt: at },
    ...(dueAt !== undefined && { nextAttemptAt: dueAt }),
  };
}

/** A delivery that is this process's for a time, and where it stands. */
export interface HeldDelivery extends TakenDelivery {
  readonly key: Item;
  readonly firstFailedAt?: number;
}

/** Reads a delivery as it is to be sent. */
export function readHeld(item: Item, { url, secrets }: Pick<WebhookRecord, 'url' | 'secrets'>): HeldDelivery {
  const fields = readFields(item, { ...SENT, webhookId: 'text', body: 'text' }, { firstFailedAt: 'number' });
  return { ...fields, url, secrets, key: keyOf(item) };
}
