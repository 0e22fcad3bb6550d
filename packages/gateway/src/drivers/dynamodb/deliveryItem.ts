import { type MessageFacts, messageIdOf, writeMessageBody } from '../../ports/webhookMessage.ts';
import type { DeliveryRecord, TakenDelivery, WebhookRecord } from '../../ports/webhookStore.ts';
import {
  type Item,
  number,
  queryPage,
  readNumber,
  readNumbers,
  readText,
  readTexts,
  type Table,
  text,
  update,
} from './items.ts';
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
  const bound = by ?? after;
  const range = bound === undefined ? '' : ` AND dueAt ${by === undefined ? '>' : '<='} :bound`;
  const { items } = await queryPage(deliveries, {
    ...{ index: deliveryIndexes.due.name, keys: `dueOf = :of${range}`, limit },
    values: { ':of': text(webhookId), ...(bound !== undefined && { ':bound': number(bound) }) },
  });
  return items.map(readDue);
}

/** Counts what waits for a webhook. @param atMost - counts no further */
export async function countWaiting(deliveries: Table, webhookId: string, atMost: number): Promise<number> {
  const query = { index: deliveryIndexes.due.name, keys: 'dueOf = :of', values: { ':of': text(webhookId) } };
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
    ...{ key, set: { dueAt: number(to) } },
    condition: `#status = :waiting${from === undefined ? '' : ' AND #dueAt = :from'}`,
    values: { ':waiting': text('waiting'), ...(from !== undefined && { ':from': number(from) }) },
  });
  return done ? item : undefined;
}

/** Finds what waits in a lane on one side of a place. @returns the first; undefined: nothing does */
export async function findWaiting(deliveries: Table, key: Item, side: '<' | '>'): Promise<DueDelivery | undefined> {
  const { items } = await queryPage(deliveries, {
    ...{ keys: `lane = :lane AND place ${side} :place`, filter: '#status = :waiting', consistent: true },
    values: {
      ...{ ':lane': text(readText(key, 'lane')), ':place': text(readText(key, 'place')) },
      ':waiting': text('waiting'),
    },
  });
  return items[0] && readDue(items[0]);
}

const SECONDS_PER_DAY = 86_400;
/** Digits of a time in milliseconds, until the year 2286. */
const TIME_DIGITS = 13;

/** When what is kept for some days is forgotten. */
const expiryIn = (days: number) => (now: number) => number(Math.floor(now / 1000) + days * SECONDS_PER_DAY);
/** When a delivery that ends now is forgotten. */
export const endedExpiry = expiryIn(7);
/** When one that waits is forgotten, whatever becomes of its webhook. */
export const waitingExpiry = expiryIn(30);

/** Key of a delivery. */
export const keyOf = (item: Item): Item => ({
  lane: text(readText(item, 'lane')),
  place: text(readText(item, 'place')),
});

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
    // What one webhook is told of one request is one lane.
    ...{ lane: text(`${webhookId}#${requestId}`), place: text(place), webhookId: text(webhookId) },
    deliveryId: text(`${String(at).padStart(TIME_DIGITS, '0')}-${place}`),
    messageId: text(messageIdOf([webhookId, place, requestId, event, at])),
    ...{ requestId: text(requestId), event: text(event), at: number(at), body: text(writeMessageBody(facts)) },
    ...{ status: text('waiting'), attempts: number(0), dueOf: text(webhookId), dueAt: number(now) },
    expiresAt: waitingExpiry(now),
  };
}

/** Reads a delivery as it is listed. */
export function readDelivery(item: Item): DeliveryRecord {
  return {
    ...{ deliveryId: readText(item, 'deliveryId'), messageId: readText(item, 'messageId') },
    requestId: readText(item, 'requestId'),
    // Written by this driver from values of these types.
    event: readText(item, 'event') as DeliveryRecord['event'],
    status: readText(item, 'status') as DeliveryRecord['status'],
    ...{ attempts: readNumber(item, 'attempts'), createdAt: readNumber(item, 'at') },
    ...(item.dueAt !== undefined && { nextAttemptAt: readNumber(item, 'dueAt') }),
    ...readTexts(item, 'lastError'),
    ...readNumbers(item, 'endedAt', 'lastStatus'),
  };
}

/** A delivery that is this process's for a time, and where it stands. */
export interface HeldDelivery extends TakenDelivery {
  readonly key: Item;
  readonly firstFailedAt?: number;
}

/** Reads a delivery as it is to be sent. */
export function readHeld(item: Item, { url, secrets }: Pick<WebhookRecord, 'url' | 'secrets'>): HeldDelivery {
  return {
    ...{ deliveryId: readText(item, 'deliveryId'), messageId: readText(item, 'messageId') },
    ...{ webhookId: readText(item, 'webhookId'), url, secrets, body: readText(item, 'body') },
    ...{ attempts: readNumber(item, 'attempts'), key: keyOf(item) },
    ...readNumbers(item, 'firstFailedAt'),
  };
}
