import {
  type AttributeDefinition,
  CreateTableCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import {
  deliveriesTable,
  type IndexDescription,
  type KeyAttribute,
  type TableDescription,
  type TableNames,
  tableDescriptions,
} from './tables.ts';

/** Stream records hold the item before and after the write. */
const STREAM_VIEW = 'NEW_AND_OLD_IMAGES';
/** Longest wait for a table to become active, in seconds; AWS takes about ten, a local engine none. */
const MAX_WAIT_SECONDS = 60;

function keySchema(partitionKey: KeyAttribute, sortKey: KeyAttribute | undefined): KeySchemaElement[] {
  const hash: KeySchemaElement = { AttributeName: partitionKey.name, KeyType: 'HASH' };
  return sortKey === undefined ? [hash] : [hash, { AttributeName: sortKey.name, KeyType: 'RANGE' }];
}

function indexInput({ name, partitionKey, sortKey, carried }: IndexDescription): GlobalSecondaryIndex {
  return {
    IndexName: name,
    KeySchema: keySchema(partitionKey, sortKey),
    Projection:
      carried.length === 0
        ? { ProjectionType: 'KEYS_ONLY' }
        : { ProjectionType: 'INCLUDE', NonKeyAttributes: [...carried] },
  };
}

function attributeDefinitions({ partitionKey, sortKey, indexes }: TableDescription): AttributeDefinition[] {
  const keys = [partitionKey, sortKey, ...indexes.flatMap((index) => [index.partitionKey, index.sortKey])];
  const types = new Map(keys.flatMap((key) => (key === undefined ? [] : [[key.name, key.type]])));
  return Array.from(types, ([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
}

/** Writes a table's description as the input of `CreateTable`. */
function tableInput(TableName: string, description: TableDescription): CreateTableCommandInput {
  const { partitionKey, sortKey, indexes } = description;
  return {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keySchema(partitionKey, sortKey),
    AttributeDefinitions: attributeDefinitions(description),
    ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes.map(indexInput) }),
    ...(description.hasStream && { StreamSpecification: { StreamEnabled: true, StreamViewType: STREAM_VIEW } }),
  };
}

async function createTable(client: DynamoDBClient, name: string, description: TableDescription): Promise<void> {
  try {
    await client.send(new CreateTableCommand(tableInput(name, description)));
  } catch (error) {
    // It is there, or another process is just making it.
    if (!(error instanceof ResourceInUseException)) throw error;
    return;
  }
  await waitUntilTableExists({ client, maxWaitTime: MAX_WAIT_SECONDS, minDelay: 1, maxDelay: 2 }, { TableName: name });
  if (description.ttlAttribute !== undefined) {
    const TimeToLiveSpecification = { AttributeName: description.ttlAttribute, Enabled: true };
    await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
  }
}

/**
 * Creates the tables that are missing.
 *
 * @param client - of AWS, or of a local engine
 * @param tables - their names
 * @throws the AWS SDK's errors
 */
export async function createTables(
  client: DynamoDBClient,
  tables: TableNames & { readonly deliveries: string },
): Promise<void> {
  const descriptions = { ...tableDescriptions, deliveries: deliveriesTable };
  const names = Object.keys(descriptions) as (keyof typeof descriptions)[];
  await Promise.all(names.map((name) => createTable(client, tables[name], descriptions[name])));
}
