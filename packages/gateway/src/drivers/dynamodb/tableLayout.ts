import { GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { askConditionally, askStore } from './askStore.ts';
import { type Item, number, readNumber, text } from './attributes.ts';
import type { RequestTable } from './requestTable.ts';

/** How this version lays requests out. */
const LAYOUT_VERSION = 1;
/** Key of the item that says how a table is laid out. */
const LAYOUT_KEY: Item = { requestId: text('layout') };

type Table = Pick<RequestTable, 'client' | 'name' | 'shards'>;

/** A table that this process must not use as it is: some of its requests would be in no list. */
export class TableLayoutError extends Error {
  override readonly name = 'TableLayoutError';
  readonly code = 'TABLE_LAYOUT';
}

/** @throws TableLayoutError where the table is not for this process */
function judgeLayout({ name, shards }: Table, layout: Item): void {
  const [version, highest] = [readNumber(layout, 'version'), readNumber(layout, 'shards')];
  if (version > LAYOUT_VERSION) {
    throw new TableLayoutError(`The table ${name} was written by a later version of the gateway; run that one.`);
  }
  if (highest > shards) {
    const why = `INDEX_SHARDS is ${shards}, and requests of ${name} have been spread over ${highest}`;
    throw new TableLayoutError(`${why}: those in the shards beyond would be in no list. Set INDEX_SHARDS=${highest}.`);
  }
}

async function readLayout({ client, name: TableName }: Table): Promise<Item | undefined> {
  const command = new GetItemCommand({ TableName, Key: LAYOUT_KEY, ConsistentRead: true });
  return (await askStore(() => client.send(command))).Item;
}

/** Stores that this many shards are in use, if no more were before. */
async function raiseShards({ client, name: TableName, shards }: Table): Promise<boolean> {
  const command = new UpdateItemCommand({
    TableName,
    Key: LAYOUT_KEY,
    UpdateExpression: 'SET shards = :shards',
    ConditionExpression: 'shards <= :shards',
    ExpressionAttributeValues: { ':shards': number(shards) },
  });
  return (await askConditionally(() => client.send(command))).done;
}

/** @returns false if another process has just stored it */
async function storeLayout({ client, name: TableName, shards }: Table): Promise<boolean> {
  const layout = { ...LAYOUT_KEY, version: number(LAYOUT_VERSION), shards: number(shards) };
  const put = { TableName, Item: layout, ConditionExpression: 'attribute_not_exists(requestId)' };
  return (await askConditionally(() => client.send(new PutItemCommand(put)))).done;
}

/**
 * Checks that this process may use a table, and stores the highest number of shards that was ever used.
 *
 * @throws TableLayoutError, DependencyUnavailableError
 * @see docs/specification.md DYNAMO-1, DYNAMO-8
 */
export async function checkTableLayout(table: Table): Promise<void> {
  const layout = await readLayout(table);
  if (layout !== undefined) judgeLayout(table, layout);
  if (layout !== undefined && readNumber(layout, 'shards') >= table.shards) return;
  const isStored = await (layout === undefined ? storeLayout(table) : raiseShards(table));
  // Refused: another process has just begun to use the table, or more shards of it.
  if (!isStored) await checkTableLayout(table);
}
