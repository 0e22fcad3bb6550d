import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { sized } from '@prism-gateway/testing/test-size';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL, anyChain, pendingRequest, START } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { RequestStore, StoredRequest } from '../../ports/requestStore.ts';
import { MOST_GIVEN } from './followIndex.ts';
import { shardKey } from './record.ts';

const SHARDS = 4;
/** The longest that an entry is expected on its way, in milliseconds, and a moment. */
const SETTLED_MS = 61_000;
/** Creations under way at once. */
const LANES = 25;

/** Local engines show an entry at once; here it shows when its attribute is set. */
describeWithDynamo('the feed of an index that lags', () => {
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

  async function createAll(records: readonly StoredRequest[]): Promise<void> {
    for (let i = 0; i < records.length; i += LANES) {
      await Promise.all(records.slice(i, i + LANES).map((record) => store.create(record)));
    }
  }

  async function show({ requestId }: StoredRequest, isShown: boolean): Promise<void> {
    await raw.send(
      new UpdateItemCommand({
        TableName: DYNAMO_TABLES.requests,
        Key: { requestId: { S: requestId } },
        UpdateExpression: isShown ? 'SET #shard = :shard' : 'REMOVE #shard',
        ExpressionAttributeNames: { '#shard': 'shard' },
        ...(isShown && {
          ExpressionAttributeValues: { ':shard': { S: shardKey('pending', requestId, SHARDS) } },
        }),
      }),
    );
  }

  /** A follower of a chain that counts how often each request was given to it. */
  function follow(chainName: string) {
    const given = new Map<string, number>();
    let after: string | undefined;
    return {
      given,
      async readOn(now: number, limit = 100): Promise<number> {
        for (let count = 0, pages = 0; ; pages++) {
          const query = { chainName, from: 'oldest', limit, now, ...ALL } as const;
          const page = await store.feed({ ...query, ...(after !== undefined && { after }) });
          after = page.next;
          for (const { requestId } of page.items) given.set(requestId, (given.get(requestId) ?? 0) + 1);
          count += page.items.length;
          if (page.items.length === 0) return count;
          if (pages > 100) throw new Error('The feed does not end.');
        }
      },
    };
  }

  test('a request that shows late is given as soon as it does, and nothing twice', async () => {
    const chainName = anyChain();
    const records = Array.from({ length: 12 }, (_, i) => pendingRequest({ chainName, createdAt: START + i }));
    await createAll(records);
    const late = records[3]!;
    await show(late, false);
    const follower = follow(chainName);
    expect(await follower.readOn(START + 20)).toBe(11);
    await show(late, true);
    expect(await follower.readOn(START + 300)).toBe(1);
    expect(await follower.readOn(START + SETTLED_MS)).toBe(0);
    expect(await follower.readOn(START + 2 * SETTLED_MS)).toBe(0);
    expect([...follower.given.values()]).toEqual(records.map(() => 1));
  });

  test('behind more than a place remembers, what shows late is given, and the rest at most twice', async () => {
    const chainName = anyChain();
    const count = 2 * MOST_GIVEN.pending + 20;
    const records = Array.from({ length: count }, (_, i) => pendingRequest({ chainName, createdAt: START + i * 16 }));
    await createAll(records);
    const late = [records[5]!, records[count - 30]!];
    for (const record of late) await show(record, false);
    const follower = follow(chainName);
    const end = START + count * 16;
    expect(await follower.readOn(end)).toBe(count - 2);
    for (const record of late) await show(record, true);
    // The place remembers what lies around the second alone.
    expect(await follower.readOn(end + 100)).toBe(1);
    await follower.readOn(end + SETTLED_MS);
    expect(await follower.readOn(end + 2 * SETTLED_MS)).toBe(0);
    expect([...follower.given.keys()].sort()).toEqual(records.map(({ requestId }) => requestId).sort());
    expect(Math.max(...follower.given.values())).toBeLessThanOrEqual(2);
  });

  test('a backlog is read once, whatever its length', async () => {
    const chainName = anyChain();
    const records = Array.from({ length: 230 }, (_, i) => pendingRequest({ chainName, createdAt: START + (i % 3) }));
    await createAll(records);
    const follower = follow(chainName);
    expect(await follower.readOn(START + SETTLED_MS, 50)).toBe(230);
    expect(await follower.readOn(START + 2 * SETTLED_MS, 50)).toBe(0);
  });

  test('however requests come, each is given, and none for ever', async () => {
    const arrival = fc.record({
      createdAt: fc.nat({ max: 90_000 }),
      // Most are quick, some are as late as may be.
      lag: fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 200 }) }, fc.nat({ max: 55_000 })),
    });
    const plan = fc.record({
      arrivals: fc.array(arrival, { minLength: 1, maxLength: sized({ small: 30, long: 200 }) }),
      reads: fc.array(fc.nat({ max: 150_000 }), { maxLength: 12 }),
      limit: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ arrivals, reads, limit }) => {
        const chainName = anyChain();
        const hidden = arrivals.map(({ createdAt, lag }) => {
          return { record: pendingRequest({ chainName, createdAt: START + createdAt }), at: createdAt + lag };
        });
        await createAll(hidden.map(({ record }) => record));
        for (const { record } of hidden) await show(record, false);
        const follower = follow(chainName);
        for (const read of [...reads, 300_000, 400_000].sort((a, b) => a - b)) {
          for (const { record, at } of hidden) if (at <= read) await show(record, true);
          await follower.readOn(START + read, limit);
        }
        expect([...follower.given.keys()].sort()).toEqual(hidden.map(({ record }) => record.requestId).sort());
        expect(Math.max(...follower.given.values())).toBeLessThanOrEqual(2);
        expect(await follower.readOn(START + 500_000, limit)).toBe(0);
      }),
      { numRuns: sized({ small: 8, long: 100 }) },
    );
  });
});
