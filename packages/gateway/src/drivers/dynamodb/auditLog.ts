/**
 * Acts stand in a ring of items of the requests' table, each numbered by one counter: the newest need no index to be found, and the ring
 * never grows.
 */
import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { type AdminStore, KEPT_ACTS, type NotedAct } from '../../ports/adminStore.ts';
import { askConditionally, askStore } from './askStore.ts';
import { type Item, number, readNumber, readText, text } from './attributes.ts';
import { readItems } from './readItems.ts';
import type { RequestTable } from './requestTable.ts';

const COUNTER = 'audit';
const keyOf = (place: number) => `audit#${place % KEPT_ACTS}`;

const readAct = (item: Item): NotedAct => ({
  ...{ at: readNumber(item, 'at'), act: readText(item, 'act'), keyId: readText(item, 'keyId') },
  target: readText(item, 'target'),
  ...(item.reason !== undefined && { reason: readText(item, 'reason') }),
});

/** The audit log, in DynamoDB. */
export function createAuditLog(table: RequestTable): Pick<AdminStore, 'noteAct' | 'dropAct' | 'listActs'> {
  const { client, name: TableName } = table;
  const read = (keys: readonly string[]) => readItems(table, keys, { consistent: true });

  async function takeNumber(): Promise<number> {
    const command = new UpdateItemCommand({
      ...{ TableName, Key: { requestId: text(COUNTER) }, UpdateExpression: 'ADD #n :one' },
      ExpressionAttributeNames: { '#n': 'number' },
      ExpressionAttributeValues: { ':one': number(1) },
      ReturnValues: 'UPDATED_NEW',
    });
    const { Attributes = {} } = await askStore(() => client.send(command));
    return readNumber(Attributes, 'number');
  }

  return {
    async noteAct({ at, act, keyId, target, reason }) {
      const place = await takeNumber();
      const fields = { at: number(at), act: text(act), keyId: text(keyId), target: text(target) };
      const item = { ...fields, ...(reason !== undefined && { reason: text(reason) }) };
      const Item = { requestId: text(keyOf(place)), number: number(place), ...item };
      await askStore(() => client.send(new PutItemCommand({ TableName, Item })));
      return place;
    },
    async dropAct(place) {
      const command = new DeleteItemCommand({
        ...{ TableName, Key: { requestId: text(keyOf(place)) }, ConditionExpression: '#n = :n' },
        ExpressionAttributeNames: { '#n': 'number' },
        ExpressionAttributeValues: { ':n': number(place) },
      });
      await askConditionally(() => client.send(command));
    },
    async listActs({ limit, before }) {
      const counter = (await read([COUNTER])).get(COUNTER);
      const newest = counter === undefined ? 0 : readNumber(counter, 'number');
      const oldest = Math.max(1, newest - KEPT_ACTS + 1);
      const from = Math.min(newest, (before ?? newest + 1) - 1);
      const places = Array.from({ length: Math.max(0, Math.min(limit, from - oldest + 1)) }, (_, back) => from - back);
      const items = await read(places.map(keyOf));
      const acts = places.flatMap((place) => {
        const item = items.get(keyOf(place));
        return item !== undefined && readNumber(item, 'number') === place ? [readAct(item)] : [];
      });
      const last = places.at(-1);
      return { items: acts, next: last === undefined || last <= oldest ? null : last };
    },
  };
}
