import { randomBytes, randomUUID } from 'node:crypto';
import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { sized } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { anyAddress, claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { type CapacityMeter, meterCapacity } from './createDynamoClient.ts';
import type { DynamoStores } from './createDynamoStores.ts';
import { packParams } from './params.ts';
import { positionBytes, positionOf } from './position.ts';
import { shardKey } from './requestItem.ts';

/** Bytes of an item of params beside the params: its key and two names. */
const PARAMS_ITEM_BYTES = 68;

/** Most items of one BatchWriteItem. */
const BATCH = 25;

/** Makes a request as wallets do, with a payload of random bytes. */
function requestOf(payloadBytes: number, fields: Partial<StoredRequest> = {}): StoredRequest {
  const hex = (count: number) => `0x${randomBytes(count).toString('hex')}`;
  const signer = anyAddress();
  const paramsJson = JSON.stringify({
    cloudId: hex(32),
    dataId: hex(32),
    payload: hex(payloadBytes),
    relayerFee: '2500000000000000000',
    timestamp: '1800000000',
    signer,
    v: 27,
    r: hex(32),
    s: hex(32),
  });
  return pendingRequest({ paramsJson, signer, chainName: 'eip155:84532', ...fields });
}

describeWithDynamo('read and write units', () => {
  let rig: DynamoRig;
  let stores: DynamoStores;
  let meter: CapacityMeter;
  beforeAll(async () => {
    rig = await createDynamoRig();
    ({ stores, meter } = await openMetered());
  });
  beforeEach(() => meter.reset());
  afterAll(() => rig.dispose());

  /** Opens stores that count, past the look at the table with which they begin. */
  async function openMetered() {
    const client = rig.openClient();
    const [meter, stores] = [meterCapacity(client), rig.open({ client, now: () => START })];
    await stores.prepare();
    meter.reset();
    return { meter, stores };
  }

  /** Puts entries into the index of what is pending in a chain; they are all that a page of another chain could meet of its requests. */
  async function fillPending(chainName: string, count: number): Promise<void> {
    const raw = rig.openClient();
    const puts = Array.from({ length: count }, () => {
      const requestId = randomUUID();
      const position = { B: positionBytes(positionOf({ createdAt: START, requestId })) };
      const pendingShard = { S: shardKey(chainName, requestId, 4) };
      return { PutRequest: { Item: { requestId: { S: requestId }, pendingShard, position } } };
    });
    for (let i = 0; i < count; i += BATCH) {
      const RequestItems = { [DYNAMO_TABLES.requests]: puts.slice(i, i + BATCH) };
      await raw.send(new BatchWriteItemCommand({ RequestItems }));
    }
  }

  async function writesOf(act: () => Promise<unknown>): Promise<number> {
    const before = meter.writes;
    await act();
    return meter.writes - before;
  }

  async function writesOfLife(record: StoredRequest) {
    const claim = claimOf(record);
    return {
      create: await writesOf(() => stores.requests.create(record)),
      claim: await writesOf(() => stores.requests.claim(claim)),
      report: await writesOf(() => stores.requests.report(reportOf(record, { relayer: claim.relayer }))),
    };
  }

  // Shows DYNAMO-5.
  test('a life of 1 kB of params is thirteen write units: an item with four index entries, and two moves, the last of which adds one', async () => {
    const record = requestOf(292);
    expect(record.paramsJson.length).toBeGreaterThanOrEqual(1024);
    expect(await writesOfLife(record)).toEqual({ create: 5, claim: 4, report: 4 });
  });

  test('no move grows a head beyond one unit, however close its params come', async () => {
    for (let payloadBytes = 100; payloadBytes < 700; payloadBytes += 7) {
      const record = requestOf(payloadBytes, { action: 'BATCH_MULTI_USER_WRITE_DATA' });
      const { create, claim, report } = await writesOfLife(record);
      expect([claim, report]).toEqual([4, 4]);
      expect(create).toBeLessThanOrEqual(6);
    }
  });

  test('the longest names leave room for a head of one unit, too', async () => {
    const record = requestOf(10, {
      chainName: 'c'.repeat(64),
      action: 'BATCH_MULTI_USER_WRITE_DATA',
      createdAt: 253_402_300_799_999,
    });
    expect(await writesOfLife(record)).toMatchObject({ claim: 4, report: 4 });
  });

  test('200 kB of params cost their own storing, compressed, and nothing more', async () => {
    const record = requestOf(100_000);
    const stored = Math.ceil(((await packParams(record.paramsJson)).length + PARAMS_ITEM_BYTES) / 1024);
    expect(stored).toBeLessThanOrEqual(101);
    expect(await writesOfLife(record)).toEqual({ create: stored + 5, claim: 4, report: 4 });
  });

  test('a request that may expire costs as much, and params with an item of their own are written once more', async () => {
    const client = rig.openClient();
    const counted = meterCapacity(client);
    const { requests } = rig.open({ client, pendingRetentionDays: 30 });
    const unitsOf = async (act: () => Promise<unknown>) => {
      counted.reset();
      await act();
      return counted.writes;
    };
    const [small, large] = [requestOf(292), requestOf(100_000)];
    expect(await unitsOf(() => requests.create(small))).toBe(5);
    expect(await unitsOf(() => requests.claim(claimOf(small)))).toBe(4);
    const stored = (await unitsOf(() => requests.create(large))) - 5;
    // The params, and the head that says so.
    expect(await unitsOf(() => requests.claim(claimOf(large)))).toBe(4 + stored + 1);
  });

  test('the marker of a signature is one unit more, and a release five', async () => {
    const [record, submission] = [requestOf(292), { signatureKey: 'k'.repeat(43), once: true }];
    expect(await writesOf(() => stores.requests.create(record, submission))).toBe(6);
    const claim = claimOf(record);
    await stores.requests.claim(claim);
    const release = { requestId: record.requestId, relayer: claim.relayer, releaseId: 'any', now: START };
    expect(await writesOf(() => stores.requests.release(release))).toBe(5);
  });

  test('a refused claim is one write of the head, too, and reads nothing', async () => {
    const record = requestOf(100_000);
    await stores.requests.create(record);
    await stores.requests.claim(claimOf(record));
    meter.reset();
    expect((await stores.requests.claim(claimOf(record))).outcome).toBe('conflict');
    expect([meter.calls, meter.reads]).toEqual([1, 0]);
  });

  test('what a process has listed it claims and reports without reading params', async () => {
    const signer = anyAddress();
    const record = requestOf(100_000, { signer });
    await stores.requests.create(record);
    const other = await openMetered();
    const query = { filter: { signer }, order: 'asc', limit: 20 } as const;
    const [listed] = (await other.stores.requests.list(query)).items;
    expect(listed?.paramsJson === record.paramsJson).toBe(true);
    const read = other.meter.reads;
    const claim = claimOf(record);
    const claimed = await other.stores.requests.claim(claim);
    await other.stores.requests.report(reportOf(record, { relayer: claim.relayer }));
    expect('record' in claimed && claimed.record.paramsJson === record.paramsJson).toBe(true);
    expect(other.meter.reads - read).toBe(0);
  });

  test('a consistent read of a small request is one read unit, of a large one its params besides', async () => {
    const [small, large] = [requestOf(200), requestOf(100_000)];
    for (const record of [small, large]) await stores.requests.create(record);
    const other = await openMetered();
    await other.stores.requests.get(small.requestId);
    expect(other.meter.reads).toBe(1);
    other.meter.reset();
    await other.stores.requests.get(large.requestId);
    // 100 kB by a plain read, at half a unit for 4 kB.
    expect(other.meter.reads).toBe(1 + 12.5);
  });

  // Shows STORE-2.
  test('a page of 100 reads each record once, and a little of the index', async () => {
    const signer = anyAddress();
    const records = Array.from({ length: 101 }, (_, i) => requestOf(200, { signer, createdAt: START + i }));
    await Promise.all(records.map((record) => stores.requests.create(record)));
    meter.reset();
    const page = await stores.requests.list({ filter: { signer }, order: 'asc', limit: 100 });
    expect(page.items).toHaveLength(100);
    expect(page.next).not.toBeNull();
    expect(meter.reads).toBeGreaterThan(100);
    expect(meter.reads).toBeLessThanOrEqual(104);
    meter.reset();
    const pending = await stores.requests.list({ filter: { status: 'pending' }, order: 'asc', limit: 100 });
    expect(pending.items).toHaveLength(100);
    expect(meter.reads).toBeLessThanOrEqual(108);
  });

  test('a page of large ones reads little more than it shows', async () => {
    const signer = anyAddress();
    const records = Array.from({ length: 40 }, (_, i) => requestOf(100_000, { signer, createdAt: START + i }));
    for (const record of records) await stores.requests.create(record);
    const other = await openMetered();
    const query = { filter: { signer }, order: 'asc', limit: 100, maxParamsBytes: 1_000_000 } as const;
    const page = await other.stores.requests.list(query);
    expect(page.items.map(({ requestId }) => requestId)).toEqual(records.slice(0, 4).map(({ requestId }) => requestId));
    // 40 heads at a unit, the index, and the params of five at 12.5.
    expect(other.meter.reads).toBeLessThanOrEqual(40 + 4 + 5 * 12.5);
  });

  // Shows STORE-2 and DYNAMO-5.
  test('the first page of a chain costs what it holds, whatever is pending on another', async () => {
    const [chainName, busy] = ['eip155:1', 'eip155:10'];
    await fillPending(busy, sized({ small: 500, long: 60_000 }));
    const query = { filter: { status: 'pending', chainName }, order: 'asc', limit: 100 } as const;
    meter.reset();
    expect(await stores.requests.list(query)).toEqual({ items: [], next: null });
    // One call a shard, at half a unit, as of an empty queue; DynamoDB local counts nothing for a shard that has nothing.
    const countsNothing = process.env.DYNAMODB_ENGINE === 'dynamodb-local';
    expect([meter.calls, meter.reads]).toEqual([4, countsNothing ? 0 : 2]);
    const record = requestOf(200, { chainName });
    await stores.requests.create(record);
    meter.reset();
    expect(await stores.requests.list(query)).toEqual({ items: [record], next: null });
    expect([meter.calls, meter.reads]).toEqual([5, countsNothing ? 1.5 : 3]);
  });

  test('checking a relayer is one read unit, a counted hit one write unit', async () => {
    const address = anyAddress();
    await stores.relayers.put({ address, now: START });
    meter.reset();
    expect(await stores.relayers.find(address)).toMatchObject({ createdAt: START });
    expect([meter.reads, meter.writes]).toEqual([1, 0]);

    const hit = { key: anyAddress(), limit: 3, window: 30_000_000, elapsed: 0.5 };
    await stores.rateLimits.take(hit);
    meter.reset();
    await stores.rateLimits.take(hit);
    expect([meter.reads, meter.writes]).toEqual([0, 1]);
  });

  test('a flood beyond the limit costs nothing', async () => {
    const hit = { key: anyAddress(), limit: 3, window: 30_000_000, elapsed: 0.5 };
    for (let i = 0; i < 3; i++) await stores.rateLimits.take(hit);
    await stores.rateLimits.take(hit);
    meter.reset();
    for (let i = 0; i < 50; i++) expect((await stores.rateLimits.take(hit)).allowed).toBe(false);
    expect(meter.calls).toBe(0);
  });

  test('an error message costs what it weighs', async () => {
    const record = requestOf(100);
    await stores.requests.create(record);
    const claim = claimOf(record);
    await stores.requests.claim(claim);
    const outcome = { status: 'failed', errorMessage: '😀'.repeat(1000) } as const;
    const units = await writesOf(() => stores.requests.report(reportOf(record, { relayer: claim.relayer, outcome })));
    expect(units).toBe(7);
  });
});
