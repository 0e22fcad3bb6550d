import { DYNAMO_TEST_ACCESS } from '@prism-gateway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPatientClient } from '../../../test/rigs/createPatientClient.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import { createDynamoStores } from './createDynamoStores.ts';
import { createTables } from './createTables.ts';

describeWithDynamo('readiness', () => {
  let rig: DynamoRig;
  beforeAll(async () => {
    rig = await createDynamoRig();
  });
  afterAll(() => rig.dispose());

  const createClient = () => createPatientClient({ endpoint: rig.endpoint, ...DYNAMO_TEST_ACCESS });

  test('with all three tables the stores are ready', async () => {
    await expect(rig.open().checkReady()).resolves.toBeUndefined();
  });

  test.each(['requests', 'relayers', 'rateLimits'] as const)('without the table of %s they are not', async (table) => {
    const tables = { ...DYNAMO_TABLES, [table]: 'service-nowhere-test' };
    const stores = createDynamoStores({
      client: createClient(),
      tables,
      indexShards: 4,
      requestRetentionDays: 0,
      pendingRetentionDays: 0,
      now: Date.now,
    });
    await expect(stores.checkReady()).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    await stores.close();
  });

  test('creating tables that are there changes nothing, and several may try at once', async () => {
    const client = createClient();
    const tables = {
      requests: 'service-requests-new',
      relayers: 'service-relayers-new',
      rateLimits: 'service-ratelimit-new',
    };
    await Promise.all([createTables(client, tables), createTables(client, tables), createTables(client, tables)]);
    await createTables(client, tables);
    const stores = createDynamoStores({
      client,
      tables,
      indexShards: 4,
      requestRetentionDays: 0,
      pendingRetentionDays: 0,
      now: Date.now,
    });
    await expect(stores.checkReady()).resolves.toBeUndefined();
    await stores.close();
  });
});
