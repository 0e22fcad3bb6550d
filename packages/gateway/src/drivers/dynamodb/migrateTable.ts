import { setTimeout as pause } from 'node:timers/promises';
import {
  DescribeTableCommand,
  type DynamoDBClient,
  QueryCommand,
  UpdateItemCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { REQUEST_MOVES, REQUEST_STATUSES } from '@prism-gateway/protocol';
import { askConditionally } from './askStore.ts';
import { type Item, readText, text } from './attributes.ts';
import { attributeDefinitions, indexInput } from './createTables.ts';
import { readItems } from './readItems.ts';
import { transactionKey } from './requestItem.ts';
import { shardKeys } from './requestTable.ts';
import { MOST_SHARDS, storeLayout } from './tableLayout.ts';
import { requestIndexes, tableDescriptions } from './tables.ts';

/** Between two looks at an index in the making, in milliseconds; AWS takes minutes. */
const POLL_MS = 1000;
/** Requests that are brought up to date at once. */
const LANES = 16;

/** What a migration is given. */
export interface Migration {
  readonly client: DynamoDBClient;
  /** The requests' table. */
  readonly name: string;
  /** Takes a line about what has been done. */
  readonly tell: (line: string) => void;
}

/** Names of the table's indexes, as soon as none is being made or deleted: DynamoDB changes one at a time. */
async function readSettledIndexes({ client, name: TableName }: Migration): Promise<ReadonlySet<string>> {
  for (;;) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    const indexes = Table?.GlobalSecondaryIndexes ?? [];
    if (indexes.every(({ IndexStatus = 'ACTIVE' }) => IndexStatus === 'ACTIVE')) {
      return new Set(indexes.map(({ IndexName = '' }) => IndexName));
    }
    await pause(POLL_MS);
  }
}

/** Makes the indexes that are missing, one after another: DynamoDB makes one at a time, and fills it from what is there. */
async function createMissingIndexes(migration: Migration): Promise<void> {
  const { client, name: TableName, tell } = migration;
  for (const index of Object.values(requestIndexes)) {
    if ((await readSettledIndexes(migration)).has(index.name)) continue;
    const command = new UpdateTableCommand({
      TableName,
      AttributeDefinitions: attributeDefinitions(tableDescriptions.requests),
      GlobalSecondaryIndexUpdates: [{ Create: indexInput(index) }],
    });
    await client.send(command);
    tell(`${TableName}: index ${index.name} is being made`);
  }
  await readSettledIndexes(migration);
}

/** The entries of one partition, a page at a time. */
async function* readPartition({ client, name: TableName }: Migration, key: string): AsyncGenerator<readonly Item[]> {
  const { name: IndexName, partitionKey } = requestIndexes.status;
  let from: Item | undefined;
  do {
    const output = await client.send(
      new QueryCommand({
        TableName,
        IndexName,
        KeyConditionExpression: '#key = :key',
        ExpressionAttributeNames: { '#key': partitionKey.name },
        ExpressionAttributeValues: { ':key': text(key) },
        ...(from !== undefined && { ExclusiveStartKey: from }),
      }),
    );
    yield output.Items ?? [];
    from = output.LastEvaluatedKey;
  } while (from !== undefined);
}

/** Puts a pending request into the index of its chain. @returns whether it was not there */
async function addToPending({ client, name: TableName }: Migration, requestId: string): Promise<boolean> {
  const command = new UpdateItemCommand({
    TableName,
    Key: { requestId: text(requestId) },
    UpdateExpression: 'SET pendingShard = chainShard',
    ConditionExpression: '#status = :pending AND attribute_not_exists(pendingShard)',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':pending': text(REQUEST_MOVES.claim.from) },
  });
  return (await askConditionally(() => client.send(command))).done;
}

/** Lets a request that has succeeded be found by its transaction. @returns whether it could not be before */
async function addToTransactions({ client, name: TableName }: Migration, item: Item): Promise<boolean> {
  if (item.pendingShard !== undefined || item.txHash === undefined) return false;
  const command = new UpdateItemCommand({
    TableName,
    Key: { requestId: text(readText(item, 'requestId')) },
    UpdateExpression: 'SET pendingShard = :key',
    ConditionExpression: 'attribute_exists(txHash)',
    ExpressionAttributeValues: { ':key': text(transactionKey(readText(item, 'txHash'))) },
  });
  return (await askConditionally(() => client.send(command))).done;
}

/** Looks at every partition of what has succeeded. @returns how many requests can be found by their transaction from now on */
async function fillTransactions(migration: Migration): Promise<number> {
  let added = 0;
  for (const key of shardKeys('success', MOST_SHARDS)) {
    for await (const entries of readPartition(migration, key)) {
      const ids = entries.map((entry) => readText(entry, 'requestId'));
      const items = [...(await readItems(migration, ids, { consistent: false })).values()];
      added += await countInLanes(items, (item) => addToTransactions(migration, item));
    }
  }
  return added;
}

/** Does something for each, some at once. @returns for how many it was done */
async function countInLanes<T>(all: readonly T[], act: (one: T) => Promise<boolean>): Promise<number> {
  let count = 0;
  for (let at = 0; at < all.length; at += LANES) {
    const done = await Promise.all(all.slice(at, at + LANES).map(act));
    count += done.filter(Boolean).length;
  }
  return count;
}

/** Looks at every partition of every status. @returns the highest number of shards in use, and how many requests were changed */
async function fillPending(migration: Migration): Promise<{ readonly shards: number; readonly added: number }> {
  let [shards, added] = [1, 0];
  for (const status of REQUEST_STATUSES) {
    for (const [shard, key] of shardKeys(status, MOST_SHARDS).entries()) {
      for await (const items of readPartition(migration, key)) {
        if (items.length > 0) shards = Math.max(shards, shard + 1);
        if (status !== REQUEST_MOVES.claim.from) break;
        added += await countInLanes(items, (item) => addToPending(migration, readText(item, 'requestId')));
      }
    }
  }
  return { shards, added };
}

/**
 * Brings a requests' table of an earlier version up to date: makes the indexes that are missing, puts what is pending into that of
 * its chain, and lets what has succeeded be found by its transaction. The earlier version may work on meanwhile; what it creates or
 * reports after that is brought in by running it again. It may be run any number of times, and ended at any moment.
 *
 * @returns how many pending requests were put into the index of their chain
 * @throws the AWS SDK's errors, DependencyUnavailableError
 */
export async function migrateTable(migration: Migration): Promise<number> {
  const { client, name, tell } = migration;
  await createMissingIndexes(migration);
  const { shards, added } = await fillPending(migration);
  await storeLayout({ client, name, shards });
  const found = await fillTransactions(migration);
  tell(`${name}: ${found} requests can be found by their transaction from now on`);
  tell(`${name}: up to date; ${added} pending requests were put into the index of their chain`);
  return added;
}
