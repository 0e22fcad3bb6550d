/**
 * Acts stand in a ring of items of the requests' table, each with a number one higher than that of the act before: the newest need no index
 * to be found, and the ring never grows.
 *
 * A number is taken by the write of the item itself, which holds the id of the call: one that is sent again after a lost answer finds its own
 * item, and no number is taken twice or by nobody. The counter says where to look first; it may be behind, and never ahead.
 */
import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { type AdminStore, KEPT_ACTS, type NotedAct } from '../../ports/adminStore.ts';
import { askConditionally } from './askStore.ts';
import { type Item, number, readNumber, readText, text } from './attributes.ts';
import { readItems } from './readItems.ts';
import type { RequestTable } from './requestItem.ts';

const COUNTER = 'audit';
const NAMES = { '#n': 'number' };
const keyOf = (place: number) => `audit#${place % KEPT_ACTS}`;

const readAct = (item: Item): NotedAct => ({
  ...{ at: readNumber(item, 'at'), act: readText(item, 'act'), keyId: readText(item, 'keyId') },
  target: readText(item, 'target'),
  ...(item.reason !== undefined && { reason: readText(item, 'reason') }),
});

function writeAct({ at, act, keyId, target, reason }: NotedAct): Item {
  const fields = { at: number(at), act: text(act), keyId: text(keyId), target: text(target) };
  return { ...fields, ...(reason !== undefined && { reason: text(reason) }) };
}

/** Writes an item with the first free number from some place on. @returns the number */
async function takeNumber({ client, name: TableName }: RequestTable, from: number, fields: Item): Promise<number> {
  for (let place = from; ; ) {
    const command = new PutItemCommand({
      ...{ TableName, Item: { ...fields, requestId: text(keyOf(place)), number: number(place) } },
      ConditionExpression: 'attribute_not_exists(#n) OR #n < :n',
      ExpressionAttributeNames: NAMES,
      ExpressionAttributeValues: { ':n': number(place) },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const answer = await askConditionally(() => client.send(command));
    if (answer.done || answer.item?.call?.S === fields.call?.S) return place;
    // Another's, or one of a later round: all below it are taken.
    place = (answer.item === undefined ? place : readNumber(answer.item, 'number')) + 1;
  }
}

/** The audit log, in DynamoDB. @param createId - makes an id of its own for each call */
export function createAuditLog(
  table: RequestTable,
  createId: () => string,
): Pick<AdminStore, 'noteAct' | 'dropAct' | 'listActs'> {
  const { client, name: TableName } = table;
  const read = (keys: readonly string[]) => readItems(table, keys, { consistent: true });

  async function readNewest(): Promise<number> {
    const counter = (await read([COUNTER])).get(COUNTER);
    return counter === undefined ? 0 : readNumber(counter, 'number');
  }

  /** Sets the counter, unless another has moved it so that the condition fails. */
  async function setCounter(newest: number, ConditionExpression: string, values: Item = {}): Promise<void> {
    const command = new UpdateItemCommand({
      ...{ TableName, Key: { requestId: text(COUNTER) }, UpdateExpression: 'SET #n = :n', ConditionExpression },
      ExpressionAttributeNames: NAMES,
      ExpressionAttributeValues: { ':n': number(newest), ...values },
    });
    await askConditionally(() => client.send(command));
  }

  return {
    async noteAct(act) {
      const fields = { ...writeAct(act), call: text(createId()) };
      const place = await takeNumber(table, (await readNewest()) + 1, fields);
      await setCounter(place, 'attribute_not_exists(#n) OR #n < :n');
      return place;
    },
    async dropAct(place) {
      const command = new DeleteItemCommand({
        ...{ TableName, Key: { requestId: text(keyOf(place)) }, ConditionExpression: '#n = :n' },
        ExpressionAttributeNames: NAMES,
        ExpressionAttributeValues: { ':n': number(place) },
      });
      const { done } = await askConditionally(() => client.send(command));
      // The next act takes its number, so that many refused ones push none out that was done.
      if (done) await setCounter(place - 1, '#n = :place', { ':place': number(place) });
    },
    async listActs({ limit, before }) {
      const newest = await readNewest();
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
