import { QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { DeliveryQuery, DeliveryRecord, WebhookStore } from '../../../ports/webhookStore.ts';
import { askConditionally, askStore } from '../askStore.ts';
import { type Item, number, text } from '../attributes.ts';
import { deliveryIndexes } from './deliveriesTable.ts';
import { keyOf, readDelivery, waitingExpiry } from './deliveryItem.ts';
import type { Deliveries } from './webhookHealth.ts';

/** Answers that one page asks the index for at most: of few that match among many, the next page shows the others. */
const MAX_ASKED = 20;

interface PageQuery {
  readonly query: DeliveryQuery;
  readonly startKey: Item | undefined;
}

async function readPage({ client, name }: Deliveries, { query, startKey }: PageQuery) {
  const { webhookId, status, after } = query;
  const command = new QueryCommand({
    ...{ TableName: name, IndexName: deliveryIndexes.webhook.name, ScanIndexForward: false },
    KeyConditionExpression: `webhookId = :of${after === undefined ? '' : ' AND deliveryId < :after'}`,
    ...(status !== undefined && {
      FilterExpression: '#status = :status',
      ExpressionAttributeNames: { '#status': 'status' },
    }),
    ExpressionAttributeValues: {
      ':of': text(webhookId),
      ...(after !== undefined && { ':after': text(after) }),
      ...(status !== undefined && { ':status': text(status) }),
    },
    ...(status === undefined && { Limit: query.limit }),
    ...(startKey !== undefined && { ExclusiveStartKey: startKey }),
  });
  return await askStore(() => client.send(command));
}

/** Lists a webhook's deliveries, newest first. @throws DependencyUnavailableError */
export async function listDeliveries(deliveries: Deliveries, query: DeliveryQuery): Promise<readonly DeliveryRecord[]> {
  const found: DeliveryRecord[] = [];
  let startKey: Item | undefined;
  for (let asked = 0; asked < MAX_ASKED && found.length < query.limit; asked++) {
    const { Items = [], LastEvaluatedKey } = await readPage(deliveries, { query, startKey });
    found.push(...Items.map(readDelivery));
    startKey = LastEvaluatedKey;
    if (startKey === undefined) break;
  }
  return found.slice(0, query.limit);
}

async function findKey({ client, name }: Deliveries, webhookId: string, deliveryId: string): Promise<Item | undefined> {
  const command = new QueryCommand({
    ...{ TableName: name, IndexName: deliveryIndexes.webhook.name },
    KeyConditionExpression: 'webhookId = :of AND deliveryId = :id',
    ExpressionAttributeValues: { ':of': text(webhookId), ':id': text(deliveryId) },
  });
  const { Items = [] } = await askStore(() => client.send(command));
  return Items[0] && keyOf(Items[0]);
}

/** Has an ended delivery be sent once more. @throws DependencyUnavailableError */
export async function resendDelivery(
  deliveries: Deliveries,
  { webhookId, deliveryId, now }: Parameters<WebhookStore['resend']>[0],
): ReturnType<WebhookStore['resend']> {
  const { client, name: TableName } = deliveries;
  const Key = await findKey(deliveries, webhookId, deliveryId);
  if (Key === undefined) return 'missing';
  const command = new UpdateItemCommand({
    ...{ TableName, Key, ReturnValues: 'ALL_NEW', ConditionExpression: '#status IN (:delivered, :failed)' },
    UpdateExpression:
      'SET #status = :waiting, attempts = :none, dueOf = :of, dueAt = :now, expiresAt = :kept REMOVE endedAt, firstFailedAt',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ...{ ':delivered': text('delivered'), ':failed': text('failed'), ':waiting': text('waiting') },
      ...{ ':none': number(0), ':of': text(webhookId), ':now': number(now), ':kept': waitingExpiry(now) },
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  const answer = await askConditionally(() => client.send(command));
  if (!answer.done) return answer.item === undefined ? 'missing' : 'waiting';
  return readDelivery(answer.output.Attributes ?? {});
}
