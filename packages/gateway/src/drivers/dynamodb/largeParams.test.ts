import { createHash, randomBytes } from 'node:crypto';
import { DeleteItemCommand, type DynamoDBClient, GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { sized } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyAddress, claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { createDynamoOutbox } from '../../../test/rigs/createDynamoOutbox.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { RequestStore, StoredRequest } from '../../ports/requestStore.ts';
import { readItems } from './items.ts';

const paramsOf = (payloadBytes: number) =>
  JSON.stringify({ payload: `0x${randomBytes(payloadBytes).toString('hex')}` });
const largeRequest = (fields: Partial<StoredRequest> = {}) =>
  pendingRequest({ paramsJson: paramsOf(20_000), ...fields });

describeWithDynamo('params with an item of their own', () => {
  let rig: DynamoRig;
  let store: RequestStore;
  let raw: DynamoDBClient;
  beforeAll(async () => {
    rig = await createDynamoRig();
    store = rig.open().requests;
    raw = rig.openClient();
  });
  afterAll(async () => {
    await rig.dispose();
  });

  /** Reads the key of a request's params. */
  async function paramsKeyOf(requestId: string): Promise<string | undefined> {
    const Key = { requestId: { S: requestId } };
    const { Item } = await raw.send(new GetItemCommand({ TableName: DYNAMO_TABLES.requests, Key }));
    return Item?.paramsKey?.S;
  }

  test('params of every size around the limit come back, from the head or from their own item', async () => {
    const places = new Set<string>();
    for (let payloadBytes = 300; payloadBytes < 600; payloadBytes += 7) {
      const record = pendingRequest({ paramsJson: paramsOf(payloadBytes) });
      await store.create(record);
      expect(await rig.open().requests.get(record.requestId)).toStrictEqual(record);
      places.add((await paramsKeyOf(record.requestId)) === undefined ? 'head' : 'own item');
    }
    expect([...places]).toEqual(['head', 'own item']);
  });

  test('another process claims and reports with the whole record', async () => {
    const record = largeRequest();
    await store.create(record);
    const claim = claimOf(record);
    const claimed = await rig.open().requests.claim(claim);
    expect(claimed).toMatchObject({ outcome: 'moved', record: { paramsJson: record.paramsJson } });
    const refused = await rig.open().requests.claim(claimOf(record));
    expect(refused).toMatchObject({ outcome: 'conflict', record: { paramsJson: record.paramsJson } });
    const reported = await rig.open().requests.report(reportOf(record, { relayer: claim.relayer }));
    expect(reported).toMatchObject({ outcome: 'moved', record: { paramsJson: record.paramsJson } });
  });

  // In its full size it is more than the 16 MB that one answer of DynamoDB holds.
  test('a page of them comes whole', async () => {
    const payloadBytes = sized({ small: 5000, long: 180_000 });
    const signer = anyAddress();
    const records = Array.from({ length: 100 }, (_, i) =>
      pendingRequest({ signer, createdAt: START + i, paramsJson: paramsOf(payloadBytes) }),
    );
    for (const record of records) await store.create(record);
    const page = await rig.open().requests.list({ filter: { signer }, order: 'asc', limit: 100 });
    expect(page.next).toBeNull();
    const digests = (all: readonly StoredRequest[]) =>
      all.map(({ paramsJson }) => createHash('sha256').update(paramsJson).digest('hex'));
    expect(digests(page.items)).toEqual(digests(records));
  });

  test('of rival creations of one id the record and the params belong together', async () => {
    const first = largeRequest();
    const late = largeRequest({ requestId: first.requestId });
    await store.create(first);
    await store.create(late);
    expect(await rig.open().requests.get(first.requestId)).toStrictEqual(first);

    for (let round = 0; round < 5; round++) {
      const { requestId } = largeRequest();
      const rivals = [largeRequest({ requestId }), largeRequest({ requestId }), pendingRequest({ requestId })];
      await Promise.all(rivals.map((record) => rig.open().requests.create(record)));
      expect(rivals).toContainEqual(await rig.open().requests.get(requestId));
    }
  });

  test('a head without its params is no request: not in reads, lists, claims', async () => {
    const signer = anyAddress();
    const record = largeRequest({ signer });
    await store.create(record);
    const key = (await paramsKeyOf(record.requestId)) ?? '';
    await raw.send(new DeleteItemCommand({ TableName: DYNAMO_TABLES.requests, Key: { requestId: { S: key } } }));
    const other = rig.open().requests;
    expect(await other.get(record.requestId)).toBeUndefined();
    expect(await other.list({ filter: { signer }, order: 'asc', limit: 5 })).toEqual({ items: [], next: null });
    expect(await other.claim(claimOf(record))).toEqual({ outcome: 'missing' });
  });

  // Shows DYNAMO-2.
  test.each(['an administrator removes it', 'its time is up'])('go with their request when %s', async (how) => {
    const { stream, stats } = createDynamoOutbox(rig);
    await stream.read();
    const [record, kept] = [largeRequest(), largeRequest()];
    for (const one of [record, kept]) await store.create(one);
    const keys = [await paramsKeyOf(record.requestId), await paramsKeyOf(kept.requestId)] as [string, string];
    const Key = { requestId: { S: record.requestId } };
    if (how.startsWith('an')) await rig.open().admin.remove(record.requestId);
    else await raw.send(new DeleteItemCommand({ TableName: DYNAMO_TABLES.requests, Key }));
    await stats.record(await stream.read());
    const items = await readItems({ client: raw, name: DYNAMO_TABLES.requests }, keys, { consistent: true });
    expect([...items.keys()]).toEqual([keys[1]]);
  });

  test('params are in no index', async () => {
    const claimed = largeRequest();
    for (const record of [claimed, largeRequest()]) await store.create(record);
    await store.claim(claimOf(claimed));
    for (const IndexName of ['bySigner', 'byStatus']) {
      const { Items = [] } = await raw.send(new ScanCommand({ TableName: DYNAMO_TABLES.requests, IndexName }));
      expect(Items.length).toBeGreaterThan(0);
      for (const item of Items) {
        expect(item.params ?? item.paramsKey).toBeUndefined();
        expect(item.requestId?.S).toMatch(/^[0-9a-f-]{36}$/);
      }
    }
  });
});
