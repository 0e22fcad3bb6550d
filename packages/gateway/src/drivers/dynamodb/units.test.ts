import { randomBytes, randomUUID } from 'node:crypto';
import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { sized } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { anyAddress, claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { StoredRequest, Submission } from '../../ports/requestStore.ts';
import { type CapacityMeter, meterCapacity } from './createDynamoClient.ts';
import type { DynamoStores } from './createDynamoStores.ts';
import { packParams } from './params.ts';
import { lanePositionBytes, positionOf } from './position.ts';
import { shardKey } from './record.ts';

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
      const place = { B: lanePositionBytes(chainName, positionOf({ createdAt: START, requestId })) };
      const shard = { S: shardKey('pending', requestId, 4) };
      return { PutRequest: { Item: { requestId: { S: requestId }, shard, place } } };
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

  async function writesOfLife(record: StoredRequest, submission?: Submission) {
    const claim = claimOf(record);
    return {
      create: await writesOf(() => stores.requests.create(record, submission)),
      claim: await writesOf(() => stores.requests.claim(claim)),
      report: await writesOf(() => stores.requests.report(reportOf(record, { relayer: claim.relayer }))),
    };
  }

  // Shows DYNAMO-5.
  test('a life of 1 kB of params is eleven write units: an item, its signature, two index entries, and two moves', async () => {
    const [record, submission] = [
      requestOf(292, { chainName: 'eip155:11155111' }),
      { key: 'k'.repeat(43), once: true },
    ];
    expect(record.paramsJson.length).toBeGreaterThanOrEqual(1024);
    // The first one of a chain is one more.
    await stores.requests.create(requestOf(1, { chainName: record.chainName }));
    expect(await writesOfLife(record, submission)).toEqual({ create: 4, claim: 3, report: 4 });
  });

  test('a failure is in no index of transactions; a release is one entry more, which the next claim takes', async () => {
    const record = requestOf(292, { chainName: 'eip155:11155111' });
    const relayer = anyAddress();
    await stores.requests.create(record);
    await stores.requests.claim(claimOf(record, { relayer }));
    const release = { requestId: record.requestId, relayer, releaseId: 'any', now: START };
    expect(await writesOf(() => stores.requests.release(release))).toBe(4);
    expect(await writesOf(() => stores.requests.claim(claimOf(record, { relayer })))).toBe(4);
    const outcome = { status: 'failed', errorMessage: 'no gas' } as const;
    expect(await writesOf(() => stores.requests.report(reportOf(record, { relayer, outcome })))).toBe(3);
  });

  test('no move grows a head beyond one unit, however close its params come', async () => {
    for (let payloadBytes = 100; payloadBytes < 700; payloadBytes += 7) {
      const record = requestOf(payloadBytes, { action: 'BATCH_MULTI_USER_WRITE_DATA' });
      const { create, claim, report } = await writesOfLife(record);
      expect([claim, report]).toEqual([3, 4]);
      expect(create).toBeLessThanOrEqual(4);
    }
  });

  test('the longest names leave room for a head of one unit, too', async () => {
    const record = requestOf(10, {
      chainName: 'c'.repeat(64),
      action: 'BATCH_MULTI_USER_WRITE_DATA',
      createdAt: 253_402_300_799_999,
    });
    // The first request of a chain notes its name.
    expect(await writesOfLife(record)).toEqual({ create: 4, claim: 3, report: 4 });
  });

  // Shows DYNAMO-5.
  test.each([0, 30])(
    '200 kB of params cost their own storing once, compressed, if what is pending is kept %i days',
    async (days) => {
      const client = rig.openClient();
      const counted = meterCapacity(client);
      const retention = { pendingRetentionDays: days, requestRetentionDays: days };
      const { requests, prepare } = rig.open({ client, ...retention, now: () => START });
      await prepare();
      const record = requestOf(100_000);
      const packed = (await packParams(record.paramsJson)).length;
      await requests.create(requestOf(1));
      const unitsOf = async (act: () => Promise<unknown>) => {
        counted.reset();
        await act();
        return counted.writes;
      };
      const create = await unitsOf(() => requests.create(record));
      expect(create - 3).toBe(Math.ceil((packed + PARAMS_ITEM_BYTES) / 1024));
      expect((create * 1024) / packed).toBeLessThanOrEqual(1.1);
      const claim = claimOf(record);
      expect(await unitsOf(() => requests.claim(claim))).toBe(3);
      expect(await unitsOf(() => requests.report(reportOf(record, { relayer: claim.relayer })))).toBe(4);
    },
  );

  test('a refused claim is one write of the head, too, and reads nothing', async () => {
    const record = requestOf(100_000);
    await stores.requests.create(record);
    await stores.requests.claim(claimOf(record));
    // The first conflict is counted at once, and the others of ten seconds together.
    await stores.requests.claim(claimOf(record));
    await stores.admin.readStats(START);
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
    const filter = { status: 'pending', chainName: 'eip155:84532' } as const;
    const pending = await stores.requests.list({ filter, order: 'asc', limit: 100 });
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
    // One call a shard, at half a unit, as of an empty queue, and a look whether the chain has come meanwhile; DynamoDB local counts
    // nothing for a shard that has nothing.
    const countsNothing = process.env.DYNAMODB_ENGINE === 'dynamodb-local';
    expect([meter.calls, meter.reads]).toEqual([5, countsNothing ? 1 : 3]);
    const record = requestOf(200, { chainName });
    await stores.requests.create(record);
    meter.reset();
    expect(await stores.requests.list(query)).toEqual({ items: [record], next: null });
    expect([meter.calls, meter.reads]).toEqual([5, countsNothing ? 1.5 : 3]);
  });

  test('checking a relayer is one read unit', async () => {
    const address = anyAddress();
    await stores.relayers.put({ address, now: START });
    meter.reset();
    expect(await stores.relayers.find(address)).toMatchObject({ createdAt: START });
    expect([meter.reads, meter.writes]).toEqual([1, 0]);
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
