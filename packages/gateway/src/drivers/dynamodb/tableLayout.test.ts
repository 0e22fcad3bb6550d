import {
  DeleteItemCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  UpdateItemCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { anyChain, claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { walkList } from '../../../test/contracts/walkList.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import { migrateTable } from './migrateTable.ts';
import { requestIndexes } from './tables.ts';

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

  const forgetLayout = () => raw.send(new DeleteItemCommand({ TableName, Key: { requestId: { S: 'layout' } } }));

  /** Makes the table what the version before would have left: without the new indexes, and nothing in them. */
  async function age(requestIds: readonly string[]): Promise<void> {
    await forgetLayout();
    // Items first: DynamoDB local fails to change one while an index of it goes.
    for (const requestId of requestIds) {
      const Key = { requestId: { S: requestId } };
      await raw.send(new UpdateItemCommand({ TableName, Key, UpdateExpression: 'REMOVE pendingShard' }));
    }
    for (const { name: IndexName } of [requestIndexes.status, requestIndexes.pending, requestIndexes.released]) {
      await raw.send(new UpdateTableCommand({ TableName, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName } }] }));
      await expect.poll(hasIndex(IndexName), { timeout: 60_000 }).toBe(false); // one goes at a time
    }
  }

  const hasIndex = (name: string) => async () => {
    const { Table } = await raw.send(new DescribeTableCommand({ TableName }));
    return (Table?.GlobalSecondaryIndexes ?? []).some(({ IndexName }) => IndexName === name);
  };

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

  test('a table without a word about itself is taken where it is empty', async () => {
    await forgetLayout();
    await expect(rig.open({ indexShards: 6 }).prepare()).resolves.toBeUndefined();
    await expect(rig.open({ indexShards: 5 }).prepare()).rejects.toMatchObject({ code: 'TABLE_LAYOUT' });
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
  test('a table of the version before is refused, brought up to date, and then lists all that is pending', async () => {
    const chainName = anyChain();
    const records = Array.from({ length: 40 }, (_, i) => pendingRequest({ chainName, createdAt: START + i }));
    const before = rig.open({ indexShards: 5 }).requests;
    await Promise.all(records.map((record) => before.create(record)));
    const [claimed, reported, ...pending] = records;
    await before.claim(claimOf(claimed!));
    const claim = claimOf(reported!);
    await before.claim(claim);
    const report = reportOf(reported!, { relayer: claim.relayer });
    await before.report(report);
    await age([reported!, ...pending].map(({ requestId }) => requestId));
    await expect(rig.open({ indexShards: 5 }).prepare()).rejects.toMatchObject({
      code: 'TABLE_LAYOUT',
      message: expect.stringContaining('migrate-tables'),
    });

    const lines: string[] = [];
    const migration = { client: raw, name: TableName, tell: (line: string) => void lines.push(line) };
    await migrateTable(migration);
    expect(lines.slice(-2).join()).toMatch(/1 requests can be found by their transaction.*38 pending requests/);
    await migrateTable(migration);
    expect(lines.slice(-2).join()).toMatch(/ 0 requests can be found.*; 0 pending requests/);
    await expect(rig.open({ indexShards: 4 }).prepare()).rejects.toMatchObject({ code: 'TABLE_LAYOUT' });
    const { requests } = rig.open({ indexShards: 5 });
    const filter = { chainName, status: 'pending' } as const;
    expect(await walkList(requests, { filter, order: 'asc', limit: 7 })).toStrictEqual(pending);
    const { txHash = '' } = report.outcome.status === 'success' ? report.outcome : {};
    const { requestId } = reported!;
    expect(await walkList(requests, { filter: { txHash }, order: 'asc', limit: 7 })).toMatchObject([{ requestId }]);
  });
});
