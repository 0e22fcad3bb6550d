import { GetItemCommand, PutItemCommand, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { REQUEST_STATUSES } from '@prism-gateway/protocol';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import { askConditionally, askStore } from './askStore.ts';
import { type Item, number, readNumber, text } from './attributes.ts';
import { type RequestTable, shardKeys } from './requestTable.ts';
import { requestIndexes } from './tables.ts';

/** How this version lays requests out; grows where one written before could not be read, or would be in no list. */
const LAYOUT_VERSION = 2;
/** Most partitions that any version spreads a status over. */
export const MOST_SHARDS = 24;
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

/** Whether an index is asked for that the table does not have. */
const isWithoutIndex = ({ cause }: DependencyUnavailableError) =>
  cause instanceof Error && ['ValidationException', 'ResourceNotFoundException'].includes(cause.name);

/** Whether an earlier version has used the table: it has not got this one's indexes, or requests and nothing that says how they lie. */
async function isOfEarlierVersion(table: Table): Promise<boolean> {
  try {
    return await holdsRequests(table);
  } catch (error) {
    if (error instanceof DependencyUnavailableError && isWithoutIndex(error)) return true;
    throw error;
  }
}

/** Whether the table holds requests, whatever number of shards they were spread over. */
async function holdsRequests({ client, name: TableName }: Table): Promise<boolean> {
  const { name: IndexName, partitionKey } = requestIndexes.status;
  for (const status of REQUEST_STATUSES) {
    const counts = await askStore(() =>
      Promise.all(
        shardKeys(status, MOST_SHARDS).map(async (key) => {
          const ExpressionAttributeNames = { '#key': partitionKey.name };
          const ExpressionAttributeValues = { ':key': text(key) };
          const asked = { KeyConditionExpression: '#key = :key', ExpressionAttributeNames, ExpressionAttributeValues };
          const command = new QueryCommand({ TableName, IndexName, ...asked, Limit: 1, Select: 'COUNT' });
          return (await client.send(command)).Count ?? 0;
        }),
      ),
    );
    if (counts.some((count) => count > 0)) return true;
  }
  return false;
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

/**
 * Stores how a table is laid out; what was stored stays where it is higher.
 *
 * @param table.shards - highest number of shards that was ever used
 * @throws DependencyUnavailableError
 */
export async function storeLayout(table: Table): Promise<void> {
  const { client, name: TableName, shards } = table;
  const layout = { ...LAYOUT_KEY, version: number(LAYOUT_VERSION), shards: number(shards) };
  const put = { TableName, Item: layout, ConditionExpression: 'attribute_not_exists(requestId)' };
  const answer = await askConditionally(() => client.send(new PutItemCommand(put)));
  if (!answer.done) await raiseShards(table);
}

/**
 * Checks that this process may use a table, and stores the highest number of shards that was ever used. The first look at a new table
 * finds no such item and makes sure that nothing else is there either; each later one reads it.
 *
 * @throws TableLayoutError, DependencyUnavailableError
 * @see docs/specification.md DYNAMO-1
 */
export async function checkTableLayout(table: Table): Promise<void> {
  const layout = await readLayout(table);
  if (layout === undefined && (await isOfEarlierVersion(table))) {
    const how = 'Run `npm run migrate-tables` with the settings of the gateway, then start it again';
    throw new TableLayoutError(`The table ${table.name} was laid out by an earlier version. ${how}.`);
  }
  if (layout === undefined) await storeLayout(table);
  const stored = layout ?? (await readLayout(table)) ?? {};
  judgeLayout(table, stored);
  // Refused: another process has just begun to use more.
  if (readNumber(stored, 'shards') < table.shards && !(await raiseShards(table))) await checkTableLayout(table);
}
