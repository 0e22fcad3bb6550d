import { QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { type MessageFacts, messageIdOf, writeMessageBody } from '../../../ports/webhookMessage.ts';
import type { DeliveryRecord, TakenDelivery, WebhookRecord } from '../../../ports/webhookStore.ts';
import { askConditionally, askStore } from '../askStore.ts';
import { type Item, number, readNumber, readText, text } from '../attributes.ts';
import { deliveryIndexes } from '../tables.ts';
import type { Deliveries } from '../webhookRegister.ts';

/** A delivery as the index shows it. */
export interface DueDelivery {
  readonly key: Item;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
}

interface DueQuery {
  readonly webhookId: string;
  /** Those due then or before, or, the other way round, after; milliseconds since the epoch. */
  readonly by?: number;
  readonly after?: number;
  readonly limit: number;
}

/** Lists what waits for a webhook, what is due first first; the index may lag behind. @throws DependencyUnavailableError */
export async function listDue({ client, name }: Deliveries, query: DueQuery): Promise<readonly DueDelivery[]> {
  const { webhookId, by, after, limit } = query;
  const bound = by === undefined ? after : by;
  const command = new QueryCommand({
    ...{ TableName: name, IndexName: deliveryIndexes.due.name, Limit: limit },
    KeyConditionExpression: `dueOf = :of${bound === undefined ? '' : ` AND dueAt ${by === undefined ? '>' : '<='} :bound`}`,
    ExpressionAttributeValues: { ':of': text(webhookId), ...(bound !== undefined && { ':bound': number(bound) }) },
  });
  const { Items = [] } = await askStore(() => client.send(command));
  return Items.map((item) => ({ key: keyOf(item), dueAt: readNumber(item, 'dueAt') }));
}

/**
 * Counts what waits for a webhook.
 *
 * @param atMost - counts no further
 * @throws DependencyUnavailableError
 */
export async function countWaiting({ client, name }: Deliveries, webhookId: string, atMost: number): Promise<number> {
  let count = 0;
  let ExclusiveStartKey: Item | undefined;
  do {
    const command = new QueryCommand({
      ...{ TableName: name, IndexName: deliveryIndexes.due.name, Select: 'COUNT', Limit: atMost - count },
      ...{ KeyConditionExpression: 'dueOf = :of', ExpressionAttributeValues: { ':of': text(webhookId) } },
      ...(ExclusiveStartKey !== undefined && { ExclusiveStartKey }),
    });
    const output = await askStore(() => client.send(command));
    count += output.Count ?? 0;
    ExclusiveStartKey = output.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined && count < atMost);
  return count;
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
 * @throws DependencyUnavailableError
 */
export async function postpone(
  { client, name: TableName }: Deliveries,
  { key, from, to }: Postponement,
): Promise<Item | undefined> {
  const command = new UpdateItemCommand({
    ...{ TableName, Key: key, UpdateExpression: 'SET dueAt = :to', ReturnValues: 'ALL_NEW' },
    ConditionExpression: `#status = :waiting${from === undefined ? '' : ' AND dueAt = :from'}`,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ...{ ':to': number(to), ':waiting': text('waiting') },
      ...(from !== undefined && { ':from': number(from) }),
    },
  });
  const answer = await askConditionally(() => client.send(command));
  return answer.done ? answer.output.Attributes : undefined;
}

/** Finds what waits in a lane on one side of a place. @returns the first; undefined: nothing does */
export async function findWaiting(
  { client, name: TableName }: Deliveries,
  key: Item,
  side: '<' | '>',
): Promise<DueDelivery | undefined> {
  const command = new QueryCommand({
    ...{ TableName, ConsistentRead: true, KeyConditionExpression: `lane = :lane AND place ${side} :place` },
    FilterExpression: '#status = :waiting',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ...{ ':lane': text(readText(key, 'lane')), ':place': text(readText(key, 'place')) },
      ':waiting': text('waiting'),
    },
  });
  const { Items = [] } = await askStore(() => client.send(command));
  const [first] = Items;
  return first && { key: keyOf(first), dueAt: readNumber(first, 'dueAt') };
}

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
