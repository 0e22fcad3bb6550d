import { QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { askConditionally, askStore } from '../askStore.ts';
import { type Item, number, readNumber, readText, text } from '../attributes.ts';
import { deliveryIndexes } from './deliveriesTable.ts';
import { keyOf } from './deliveryItem.ts';
import type { Deliveries } from './webhookHealth.ts';

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
