import { randomUUID } from 'node:crypto';
import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { DYNAMO_TEST_ACCESS } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anyAddress, anyChain, claimOf, pendingRequest, START } from '../../../test/contracts/storedRequests.ts';
import { walkList } from '../../../test/contracts/walkList.ts';
import { createPatientClient } from '../../../test/rigs/createPatientClient.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { RequestStore, StoredRequest } from '../../ports/requestStore.ts';
import { positionBytes, positionOf } from './position.ts';
import { shardKey } from './requestItem.ts';

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

  test('a claimed request behind a thousand of other chains is found', async () => {
    const store = rig.open({ indexShards: 1 }).requests;
    const [wanted] = await createMany(store, 1, { chainName: anyChain() });
    await store.claim(claimOf(wanted!));
    await fillIndex(rig.endpoint, 'processing#0', 1010);
    const filter = { status: 'processing', chainName: wanted!.chainName } as const;
    const [found, ...more] = await walkList(store, { filter, order: 'asc', limit: 5 });
    expect([found?.requestId, more]).toEqual([wanted!.requestId, []]);
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
  test('a cursor of another number of shards is refused', async () => {
    const chainName = anyChain();
    const store = rig.open({ indexShards: 2 }).requests;
    await createMany(store, 12, { chainName });
    const query = { filter: { chainName }, order: 'asc', limit: 5 } as const;
    const { next } = await store.list(query);
    const listing = rig.open({ indexShards: 3 }).requests.list({ ...query, after: next ?? '' });
    await expect(listing).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });

  test('a page that finds too little is short, and the walk goes on', async () => {
    const store = rig.open().requests;
    const chainName = anyChain();
    await createMany(store, 620, { chainName });
    const query = { filter: { chainName, status: 'success' }, order: 'asc', limit: 20 } as const;
    // How many pages it takes depends on how evenly the ids fall into the shards: a page ends after some rounds, too.
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

/** Puts entries of another chain into a partition of the index by status, all before `START`. */
async function fillIndex(endpoint: string, statusShard: string, count: number): Promise<void> {
  const raw = createPatientClient({ endpoint, ...DYNAMO_TEST_ACCESS });
  const puts = Array.from({ length: count }, () => {
    const requestId = randomUUID();
    const position = { B: positionBytes(positionOf({ createdAt: START - 1, requestId })) };
    const Item = { requestId: { S: requestId }, statusShard: { S: statusShard }, position, chainName: { S: 'other' } };
    return { PutRequest: { Item } };
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
