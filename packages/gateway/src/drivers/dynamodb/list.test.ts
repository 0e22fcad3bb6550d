import { randomUUID } from 'node:crypto';
import { BatchWriteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { DYNAMO_TEST_ACCESS } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anyAddress, anyChain, claimOf, pendingRequest, START } from '../../../test/contracts/storedRequests.ts';
import { walkList } from '../../../test/contracts/walkList.ts';
import { createPatientClient } from '../../../test/rigs/createPatientClient.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { RequestFilter, RequestStore, StoredRequest } from '../../ports/requestStore.ts';
import { lanePositionBytes, positionOf } from './position.ts';
import { shardKey } from './record.ts';
import { MOST_CHAINS_APART } from './tableRegister.ts';

const idsOf = (records: readonly StoredRequest[]) => records.map(({ requestId }) => requestId);

describeWithDynamo('lists over shards', () => {
  let rig: DynamoRig;
  // Tables of their own: each test uses another number of shards, and a lower one would be refused.
  beforeEach(async () => {
    rig = await createDynamoRig();
  });
  afterEach(() => rig.dispose());

  describe.each([1, 3, 16])('%i of them', (indexShards) => {
    test('any records come in one order, in pages of any length', async () => {
      const store = rig.open({ indexShards }).requests;
      const walk = fc.record({
        times: fc.array(fc.nat({ max: 30 }), { maxLength: 40 }),
        limit: fc.integer({ min: 1, max: 45 }),
        order: fc.constantFrom('asc', 'desc'),
      });
      await fc.assert(
        fc.asyncProperty(walk, async ({ times, limit, order }) => {
          const chainName = anyChain();
          const records = times.map((time) => pendingRequest({ chainName, createdAt: START + time }));
          await Promise.all(records.map((record) => store.create(record)));
          records.sort((a, b) => a.createdAt - b.createdAt || (a.requestId < b.requestId ? -1 : 1));
          if (order === 'desc') records.reverse();
          expect(await walkList(store, { filter: { chainName }, order, limit })).toStrictEqual(records);
          expect(await walkList(store, { filter: { chainName, status: 'pending' }, order, limit })).toStrictEqual(
            records,
          );
        }),
        { numRuns: sized({ small: 8, long: 200 }) },
      );
    });
  });

  test('a last page that is just full says that it is the last', async () => {
    const store = rig.open().requests;
    const [chainName, signer] = [anyChain(), anyAddress()];
    await createMany(store, 20, { chainName, signer });
    for (const filter of [{ chainName }, { signer }, { chainName, status: 'pending' }] as const) {
      for (const order of ['asc', 'desc'] as const) {
        const page = await store.list({ filter, order, limit: 20 });
        expect([page.items.length, page.next]).toEqual([20, null]);
      }
    }
  });

  test('records that crowd in few shards come in order, too', async () => {
    const store = rig.open({ indexShards: 4 }).requests;
    const chainName = anyChain();
    const records = Array.from({ length: 70 }, (_, i) => {
      const requestId = idInShard(chainName, i < 50 ? 0 : i % 4, 4);
      return pendingRequest({ requestId, chainName, createdAt: START + i });
    });
    await Promise.all(records.map((record) => store.create(record)));
    for (const limit of [8, 40, 69]) {
      expect(idsOf(await walkList(store, { filter: { chainName }, order: 'asc', limit }))).toEqual(idsOf(records));
    }
  });

  test('a full last page is known as the last, even where its shard was asked for no more', async () => {
    const store = rig.open({ indexShards: 4 }).requests;
    const chainName = anyChain();
    const records = Array.from({ length: 8 }, () =>
      pendingRequest({ chainName, requestId: idInShard(chainName, 2, 4) }),
    );
    await Promise.all(records.map((record) => store.create(record)));
    const page = await store.list({ filter: { chainName }, order: 'asc', limit: 8 });
    expect([page.items.length, page.next]).toEqual([8, null]);
  });

  // Shows DYNAMO-9.
  test('what moves while a chain is walked is given once, wherever it stands', async () => {
    const store = rig.open().requests;
    const chainName = anyChain();
    const records = await createMany(store, 30, { chainName });
    const query = { filter: { chainName }, order: 'asc', limit: 10 } as const;
    const given = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = await store.list({ ...query, ...(after !== undefined && { after }) });
      given.push(...page.items);
      after = page.next;
      for (const record of records.filter((_, i) => i % 3 === 0)) await store.claim(claimOf(record));
    }
    expect(idsOf(given)).toEqual(idsOf(records));
  });

  // Shows DYNAMO-9.
  test('requests of more chains than stand apart are found by chain, by status, and by both', async () => {
    const store = rig.open({ chains: ['own:1'] }).requests;
    const chains = [...Array.from({ length: MOST_CHAINS_APART + 3 }, anyChain), 'own:1'];
    const records = [];
    for (const [i, chainName] of chains.entries()) {
      records.push(...(await createMany(store, 3, { chainName, createdAt: START + 10 * i })));
    }
    records.sort((a, b) => a.createdAt - b.createdAt || (a.requestId < b.requestId ? -1 : 1));
    for (const reader of [store, rig.open().requests]) {
      const walk = async (filter: RequestFilter) => idsOf(await walkList(reader, { filter, order: 'asc', limit: 7 }));
      expect(await walk({ status: 'pending' })).toEqual(idsOf(records));
      for (const chainName of [chains[0], chains.at(-2), 'own:1'] as string[]) {
        const own = idsOf(records.filter((record) => record.chainName === chainName));
        expect(await walk({ chainName })).toEqual(own);
        expect(await walk({ chainName, status: 'pending' })).toEqual(own);
        expect(await walk({ chainName, status: 'success' })).toEqual([]);
      }
    }
  });

  // Shows DYNAMO-9.
  test('a chain that the settings name later than others came has what it had, and what comes', async () => {
    const [chainName, before] = ['late:1', rig.open().requests];
    for (let i = 0; i <= MOST_CHAINS_APART; i++) await createMany(before, 1, { chainName: anyChain() });
    const first = await createMany(before, 3, { chainName });
    const after = rig.open({ chains: [chainName] }).requests;
    const second = await createMany(after, 3, { chainName, createdAt: START + 50 });
    const query = { filter: { chainName, status: 'pending' }, order: 'asc', limit: 2 } as const;
    for (const reader of [before, after])
      expect(idsOf(await walkList(reader, query)).slice(0, 3)).toEqual(idsOf(first));
    for (const reader of [before, after])
      expect(await walkList(reader, query)).toHaveLength(first.length + second.length);
  });

  test('a request behind thousands of further chains is found by pages that each go on', async () => {
    const store = rig.open({ indexShards: 1 }).requests;
    for (let i = 0; i < MOST_CHAINS_APART; i++) await createMany(store, 1, { chainName: anyChain() });
    const [wanted] = await createMany(store, 1, { chainName: 'other:1' });
    await fillIndex(rig.endpoint, 'pending#0', sized({ small: 1200, long: 8000 }));
    const filter = { status: 'pending', chainName: 'other:1' } as const;
    expect(idsOf(await walkList(store, { filter, order: 'asc', limit: 5 }))).toEqual([wanted?.requestId]);
  });

  test('claimed requests that a late index still shows as pending are not listed, and pages are full all the same', async () => {
    const store = rig.open({ indexShards: 4 }).requests;
    const records = await createMany(store, 60, {});
    const raw = rig.openClient();
    for (const record of records.slice(0, 30)) {
      await store.claim(claimOf(record));
      const command = new UpdateItemCommand({
        TableName: DYNAMO_TABLES.requests,
        Key: { requestId: { S: record.requestId } },
        UpdateExpression: 'SET #shard = :shard',
        ExpressionAttributeNames: { '#shard': 'shard' },
        ExpressionAttributeValues: { ':shard': { S: shardKey('pending', record.requestId, 4) } },
      });
      await raw.send(command);
    }
    const query = { filter: { status: 'pending' }, order: 'asc', limit: 20 } as const;
    const page = await store.list(query);
    expect(idsOf(page.items)).toEqual(idsOf(records.slice(30, 50)));
    expect(await store.stats()).toEqual({ oldestPendingAt: START + 30 });
    const rest = await store.list({ ...query, after: page.next ?? '' });
    expect([idsOf(rest.items), rest.next]).toEqual([idsOf(records.slice(50)), null]);
  });

  // Shows DYNAMO-1.
  test('with more shards than before, what was stored before is still listed, claimed and reported', async () => {
    const chainName = anyChain();
    const before = await createMany(rig.open({ indexShards: 2 }).requests, 12, { chainName });
    const grown = rig.open({ indexShards: 7 }).requests;
    const after = await createMany(grown, 12, { chainName });
    const query = { filter: { chainName, status: 'pending' }, order: 'asc', limit: 5 } as const;
    const ids = [...idsOf(before), ...idsOf(after)].sort();
    expect(idsOf(await walkList(grown, query)).sort()).toEqual(ids);
    for (const record of [...before, ...after]) await grown.claim(claimOf(record));
    expect(await walkList(grown, query)).toEqual([]);
    expect(await walkList(grown, { ...query, filter: { chainName, status: 'processing' } })).toHaveLength(24);
  });

  // Shows DYNAMO-1.
  test('a walk goes on after the number of shards has grown', async () => {
    const chainName = anyChain();
    const records = await createMany(rig.open({ indexShards: 2 }).requests, 12, { chainName });
    const query = { filter: { chainName }, order: 'asc', limit: 5 } as const;
    const { items, next } = await rig.open({ indexShards: 2 }).requests.list(query);
    const rest = await rig.open({ indexShards: 3 }).requests.list({ ...query, limit: 20, after: next ?? '' });
    expect(idsOf([...items, ...rest.items])).toEqual(idsOf(records));
  });

  test('a page that finds too little is short, and the walk goes on', async () => {
    const store = rig.open().requests;
    const [chainName, signer] = [anyChain(), anyAddress()];
    await createMany(store, 620, { chainName, signer });
    const query = { filter: { signer, status: 'success' }, order: 'asc', limit: 20 } as const;
    let pages = 0;
    for (let next: string | null | undefined; next !== null; pages++) {
      const page = await store.list({ ...query, ...(next !== undefined && { after: next }) });
      expect(page.items).toEqual([]);
      next = page.next;
    }
    expect(pages).toBeGreaterThan(1);
    expect(pages).toBeLessThan(5);
  });
});

/** Puts entries of further chains into a partition of the index by status, all before `START`. */
async function fillIndex(endpoint: string, shard: string, count: number): Promise<void> {
  const raw = createPatientClient({ endpoint, ...DYNAMO_TEST_ACCESS });
  const puts = Array.from({ length: count }, () => {
    const requestId = randomUUID();
    const place = { B: lanePositionBytes('', positionOf({ createdAt: START - 1, requestId })) };
    const names = { requestId: { S: requestId }, shard: { S: shard }, chainName: { S: 'further:1' } };
    return { PutRequest: { Item: { ...names, place } } };
  });
  for (let i = 0; i < puts.length; i += 25) {
    const RequestItems = { [DYNAMO_TABLES.requests]: puts.slice(i, i + 25) };
    await raw.send(new BatchWriteItemCommand({ RequestItems }));
  }
  raw.destroy();
}

function idInShard(value: string, shard: number, shards: number): string {
  for (;;) {
    const requestId = randomUUID();
    if (shardKey(value, requestId, shards) === `${value}#${shard}`) return requestId;
  }
}

/** Creations under way at once. */
const LANES = 50;

async function createMany(
  store: RequestStore,
  count: number,
  fields: Partial<StoredRequest>,
): Promise<StoredRequest[]> {
  const records = Array.from({ length: count }, (_, i) => pendingRequest({ createdAt: START + i, ...fields }));
  for (let i = 0; i < count; i += LANES) {
    await Promise.all(records.slice(i, i + LANES).map((record) => store.create(record)));
  }
  return records;
}
