import { randomUUID } from 'node:crypto';
import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyChain, claimOf, pendingRequest, START } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { RequestStore, StoredRequest } from '../../ports/requestStore.ts';
import { shardKey } from './requestItem.ts';

const SHARDS = 4;
const idsOf = (records: readonly StoredRequest[]) => records.map(({ requestId }) => requestId);

/**
 * On AWS an index follows its table late; local engines have it at once. Here the attribute that the index is made of is set as
 * a late index would still show it.
 */
describeWithDynamo('an index that lags', () => {
  let rig: DynamoRig;
  let store: RequestStore;
  let raw: DynamoDBClient;
  beforeAll(async () => {
    rig = await createDynamoRig();
    store = rig.open({ indexShards: SHARDS }).requests;
    raw = rig.openClient();
  });
  afterAll(async () => {
    await rig.dispose();
  });

  /** Sets a request's partition in an index; undefined: it is not in the index yet. */
  async function setShard(attribute: string, requestId: string, shard: string | undefined): Promise<void> {
    const command = new UpdateItemCommand({
      TableName: DYNAMO_TABLES.requests,
      Key: { requestId: { S: requestId } },
      UpdateExpression: shard === undefined ? 'REMOVE #shard' : 'SET #shard = :shard',
      ExpressionAttributeNames: { '#shard': attribute },
      ...(shard !== undefined && { ExpressionAttributeValues: { ':shard': { S: shard } } }),
    });
    await raw.send(command);
  }

  function idInShard(value: string, shard: number): string {
    for (;;) {
      const requestId = randomUUID();
      if (shardKey(value, requestId, SHARDS) === `${value}#${shard}`) return requestId;
    }
  }

  /** Nobody finds them pending any more. */
  async function claimAll(records: readonly StoredRequest[]): Promise<void> {
    for (const record of records) await store.claim(claimOf(record));
  }

  async function createMany(count: number, fields: Partial<StoredRequest>): Promise<StoredRequest[]> {
    const records = Array.from({ length: count }, (_, i) => pendingRequest({ createdAt: START + i, ...fields }));
    await Promise.all(records.map((record) => store.create(record)));
    return records;
  }

  /** Claims a request, of which the index does not know yet. */
  async function claimUnseen(record: StoredRequest): Promise<void> {
    await store.claim(claimOf(record));
    await setShard('statusShard', record.requestId, shardKey('pending', record.requestId, SHARDS));
  }

  test('claimed requests that it still shows as pending are not listed, and pages are full all the same', async () => {
    const records = await createMany(60, {});
    const claimed = records.slice(0, 30);
    await Promise.all(claimed.map(claimUnseen));
    const query = { filter: { status: 'pending' }, order: 'asc', limit: 20 } as const;
    const page = await store.list(query);
    expect(idsOf(page.items)).toEqual(idsOf(records.slice(30, 50)));
    expect(await store.stats()).toEqual({ oldestPendingAt: START + 30 });
    const rest = await store.list({ ...query, after: page.next ?? '' });
    expect([idsOf(rest.items), rest.next]).toEqual([idsOf(records.slice(50)), null]);
    await claimAll(records.slice(30));
  });

  test('a request that it does not show yet is found by the next page, although others came first', async () => {
    const chainName = anyChain();
    const records = Array.from({ length: 12 }, (_, i) => {
      const requestId = idInShard(chainName, i % SHARDS);
      return pendingRequest({ requestId, chainName, createdAt: START + i });
    });
    await Promise.all(records.map((record) => store.create(record)));
    const late = records[4]?.requestId ?? '';
    await setShard('chainShard', late, undefined);
    const query = { filter: { chainName }, order: 'asc', limit: 6 } as const;
    const page = await store.list(query);
    expect(idsOf(page.items)).toEqual(idsOf(records.slice(0, 7)).filter((id) => id !== late));
    await setShard('chainShard', late, shardKey(chainName, late, SHARDS));
    const rest = await walkFrom(query, page.next);
    expect(idsOf(rest)).toEqual([late, ...idsOf(records.slice(7))]);
    await claimAll(records);
  });

  async function walkFrom(query: Parameters<RequestStore['list']>[0], from: string | null): Promise<StoredRequest[]> {
    const found: StoredRequest[] = [];
    for (let after = from; after !== null; ) {
      const page = await store.list({ ...query, after });
      found.push(...page.items);
      after = page.next;
    }
    return found;
  }
});
