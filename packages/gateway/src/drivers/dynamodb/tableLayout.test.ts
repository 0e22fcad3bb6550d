import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pendingRequest } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';

const TableName = DYNAMO_TABLES.requests;

describeWithDynamo('how a table is laid out', () => {
  let rig: DynamoRig;
  let raw: DynamoDBClient;
  beforeEach(async () => {
    rig = await createDynamoRig();
    raw = rig.openClient();
  });
  afterEach(async () => {
    await rig.dispose();
  });

  // Shows DYNAMO-1.
  test('a start with fewer shards than were ever used is refused, and says how many', async () => {
    await rig.open({ indexShards: 2 }).prepare();
    await rig.open({ indexShards: 7 }).prepare();
    const sentence = /INDEX_SHARDS is 6, .* over 7.*Set INDEX_SHARDS=7/;
    await expect(rig.open({ indexShards: 6 }).prepare()).rejects.toMatchObject({
      code: 'TABLE_LAYOUT',
      message: expect.stringMatching(sentence),
    });
    await expect(rig.open({ indexShards: 7 }).prepare()).resolves.toBeUndefined();
  });

  test('of processes that start at once with different numbers the higher one stands', async () => {
    const numbers = [3, 9, 5, 9, 1];
    await Promise.allSettled(numbers.map((indexShards) => rig.open({ indexShards }).prepare()));
    await expect(rig.open({ indexShards: 8 }).prepare()).rejects.toMatchObject({ code: 'TABLE_LAYOUT' });
    await expect(rig.open({ indexShards: 9 }).prepare()).resolves.toBeUndefined();
  });

  test('where the table did not answer at the start, the first call looks, and refuses', async () => {
    await rig.open({ indexShards: 7 }).prepare();
    const { requests, prepare, checkReady } = rig.open({ indexShards: 2 });
    rig.proxy.setShares({ throttle: 1 });
    await expect(prepare()).resolves.toBeUndefined();
    rig.proxy.setShares({});
    await expect(requests.create(pendingRequest())).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    await expect(checkReady()).rejects.toMatchObject({ code: 'TABLE_LAYOUT' });
  });

  // Shows DYNAMO-8.
  test('a table of a later version is refused, and left alone', async () => {
    const layout = { requestId: { S: 'layout' }, version: { N: '99' }, shards: { N: '1' } };
    await raw.send(new PutItemCommand({ TableName, Item: layout }));
    await expect(rig.open({ indexShards: 5 }).prepare()).rejects.toMatchObject({
      code: 'TABLE_LAYOUT',
      message: expect.stringContaining('later version'),
    });
    const { Item } = await raw.send(new GetItemCommand({ TableName, Key: { requestId: layout.requestId } }));
    expect(Item).toEqual(layout);
  });
});
