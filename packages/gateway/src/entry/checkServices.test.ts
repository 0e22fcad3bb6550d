import { DYNAMO_TEST_ACCESS, startDynamo, startS3Server } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { createEmptyTables } from '../../test/rigs/createEmptyTables.ts';
import { describeWithDynamo } from '../../test/rigs/dynamoStores.ts';
import { checkBucket, checkTables } from './checkServices.ts';

const tables = { requests: 'doctor-requests', relayers: 'doctor-relayers', rateLimits: 'doctor-limits' };
const names = { tables, deliveriesTable: 'doctor-deliveries' };

describeWithDynamo('the tables', () => {
  test('that are there are found, and what is missing is named with what to do', async () => {
    await using engine = await startDynamo();
    const access = { endpoint: engine.endpoint, ...DYNAMO_TEST_ACCESS };
    expect(await checkTables(names, access)).toMatchObject({
      ok: false,
      found: expect.stringContaining('doctor-requests is not there'),
      advice: expect.stringContaining('create-tables'),
    });
    await createEmptyTables({ endpoint: engine.endpoint }, tables);
    expect(await checkTables(names, access)).toMatchObject({ ok: true, advice: '' });
  });
});

test('an engine that is away is reported, with what to check', async () => {
  expect(await checkTables(names, { endpoint: 'http://127.0.0.1:1', ...DYNAMO_TEST_ACCESS })).toMatchObject({
    ok: false,
    advice: expect.stringContaining('AWS_ENDPOINT_URL_DYNAMODB'),
  });
});

test('a bucket that is there is found, and one that is not, and one that is away, are reported', async () => {
  const server = await startS3Server();
  const { endpoint, credentials, bucket } = server;
  const access = { endpoint, credentials, region: 'us-east-1' };
  const look = (STORAGE_BUCKET: string | undefined, more = {}) =>
    checkBucket({ STORAGE_BUCKET, S3_FORCE_PATH_STYLE: true }, { ...access, ...more });
  try {
    expect(await look(undefined)).toMatchObject({ ok: true });
    expect(await look(bucket)).toMatchObject({ ok: true, found: expect.stringContaining(bucket) });
    expect(await look('nowhere')).toMatchObject({ ok: false, advice: expect.stringContaining('STORAGE_BUCKET') });
    expect(await look(bucket, { endpoint: 'http://127.0.0.1:1' })).toMatchObject({
      ok: false,
      advice: expect.stringContaining('AWS_ENDPOINT_URL_S3'),
    });
  } finally {
    await server.close();
  }
});
