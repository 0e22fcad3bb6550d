import { type MessageFacts, messageIdOf, writeMessageBody } from '../../../ports/webhookMessage.ts';
import type { DeliveryRecord, TakenDelivery, WebhookRecord } from '../../../ports/webhookStore.ts';
import { type Item, number, readNumber, readText, text } from '../attributes.ts';

/** How long a delivery is kept that waits, and one that has ended, in seconds. */
const [KEPT_WAITING_SECONDS, KEPT_ENDED_SECONDS] = [30 * 86_400, 7 * 86_400];
/** Digits of a time in milliseconds, until the year 2286. */
const TIME_DIGITS = 13;

const secondsOf = (ms: number) => Math.floor(ms / 1000);

/** When a delivery that ends now is forgotten. */
export const endedExpiry = (now: number) => number(secondsOf(now) + KEPT_ENDED_SECONDS);

/** When one that waits is forgotten, whatever becomes of its webhook. */
export const waitingExpiry = (now: number) => number(secondsOf(now) + KEPT_WAITING_SECONDS);

/** What one webhook is told of one request. */
export const laneOf = (webhookId: string, requestId: string) => `${webhookId}#${requestId}`;

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
    ...{ lane: text(laneOf(webhookId, requestId)), place: text(place), webhookId: text(webhookId) },
    deliveryId: text(`${String(at).padStart(TIME_DIGITS, '0')}-${place}`),
    messageId: text(messageIdOf([webhookId, place, requestId, event, at])),
    ...{ requestId: text(requestId), event: text(event), at: number(at), body: text(writeMessageBody(facts)) },
    ...{ status: text('waiting'), attempts: number(0), dueOf: text(webhookId), dueAt: number(now) },
    expiresAt: waitingExpiry(now),
  };
}

/** Reads a delivery as it is listed. */
export function readDelivery(item: Item): DeliveryRecord {
  const optional = (name: string) => (item[name] === undefined ? {} : { [name]: readNumber(item, name) });
  return {
    ...{ deliveryId: readText(item, 'deliveryId'), messageId: readText(item, 'messageId') },
    requestId: readText(item, 'requestId'),
    // Written by this driver from values of these types.
    event: readText(item, 'event') as DeliveryRecord['event'],
    status: readText(item, 'status') as DeliveryRecord['status'],
    ...{ attempts: readNumber(item, 'attempts'), createdAt: readNumber(item, 'at') },
    ...(item.dueAt !== undefined && { nextAttemptAt: readNumber(item, 'dueAt') }),
    ...optional('endedAt'),
    ...optional('lastStatus'),
    ...(item.lastError !== undefined && { lastError: readText(item, 'lastError') }),
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
    ...(item.firstFailedAt !== undefined && { firstFailedAt: readNumber(item, 'firstFailedAt') }),
  };
}
