import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DYNAMO_TEST_ACCESS } from '@prism-gateway/testing';
import type { DynamoClientSettings } from '../../src/drivers/dynamodb/createDynamoClient.ts';
import { createTables } from '../../src/drivers/dynamodb/createTables.ts';
import type { TableNames } from '../../src/drivers/dynamodb/tables.ts';

/** Names the table of deliveries beside those of a test. */
export const deliveriesOf = ({ requests }: Pick<TableNames, 'requests'>) => requests.replace('requests', 'deliveries');

/**
 * Creates the tables of a test on an engine of its own, with the AWS SDK's own patience: the gateway's client gives up after a second
 * in which a loaded machine may not even have accepted a connection.
 */
export async function createEmptyTables(engine: DynamoClientSettings, tables: TableNames): Promise<void> {
  const client = new DynamoDBClient({ ...DYNAMO_TEST_ACCESS, ...engine });
  try {
    await createTables(client, { ...tables, deliveries: deliveriesOf(tables) });
  } finally {
    client.destroy();
  }
}
