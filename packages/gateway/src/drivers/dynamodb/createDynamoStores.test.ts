import { DYNAMO_TEST_ACCESS } from '@prism-gateway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPatientClient } from '../../../test/rigs/createPatientClient.ts';
import {
  createDynamoRig,
  DYNAMO_DELIVERIES,
  DYNAMO_TABLES,
  type DynamoRig,
  describeWithDynamo,
} from '../../../test/rigs/dynamoStores.ts';
import { createDynamoStores } from './createDynamoStores.ts';
import { createTables } from './createTables.ts';

describeWithDynamo('readiness', () => {
  let rig: DynamoRig;
  beforeAll(async () => {
    rig = await createDynamoRig();
  });
  afterAll(() => rig.dispose());

  const createClient = () => createPatientClient({ endpoint: rig.endpoint, ...DYNAMO_TEST_ACCESS });

  test('with all tables the stores are ready', async () => {
    await expect(rig.open().checkReady()).resolves.toBeUndefined();
  });

  const open = (tables: Parameters<typeof createTables>[1]) =>
    createDynamoStores({
      ...{ client: createClient(), tables, deliveriesTable: tables.deliveries, indexShards: 4, now: Date.now },
      ...{ requestRetentionDays: 0, pendingRetentionDays: 0 },
    });
  const names = { ...DYNAMO_TABLES, deliveries: DYNAMO_DELIVERIES };

  // Shows DYNAMO-10.
  test.each(['requests', 'relayers', 'rateLimits', 'deliveries'] as const)(
    'without the table of %s a start says so and stops, and they are not ready',
    async (table) => {
      const stores = open({ ...names, [table]: 'service-nowhere-test' });
      await expect(stores.prepare()).rejects.toMatchObject({
        code: 'TABLES_MISSING',
        message:
          'DynamoDB has no table service-nowhere-test: npx prism create-tables makes it, with the same settings.',
      });
      await expect(stores.checkReady()).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      await stores.close();
    },
  );

  test('creating tables that are there changes nothing, and several may try at once', async () => {
    const client = createClient();
    const tables = {
      ...{ requests: 'service-requests-new', relayers: 'service-relayers-new' },
      ...{ rateLimits: 'service-ratelimit-new', deliveries: 'service-deliveries-new' },
    };
    await Promise.all([createTables(client, tables), createTables(client, tables), createTables(client, tables)]);
    await createTables(client, tables);
    const stores = open(tables);
    await expect(stores.prepare()).resolves.toBeUndefined();
    await expect(stores.checkReady()).resolves.toBeUndefined();
    await stores.close();
    client.destroy();
  });
});
