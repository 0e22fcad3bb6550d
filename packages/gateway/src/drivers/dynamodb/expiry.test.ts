import { randomBytes } from 'node:crypto';
import {
  type AttributeValue,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  GetItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyAddress, claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';
import type { DynamoStores } from './createDynamoStores.ts';

const DAY_MS = 86_400_000;
const REPORTED_AT = START + 2000;
const DAY_SECONDS = 86_400;
const EXPIRES_AT = REPORTED_AT / 1000 + 30 * DAY_SECONDS;
/** Of what nobody claims, a week after its creation. */
const PENDING_EXPIRES_AT = START / 1000 + 7 * DAY_SECONDS;

/** A time for what nobody claims, and one for what has ended. */
const retention = { pendingRetentionDays: 7, requestRetentionDays: 30 };

describeWithDynamo('expiry', () => {
  let now = START;
  let rig: DynamoRig;
  let raw: DynamoDBClient;
  let expiring: DynamoStores;
  let lasting: DynamoStores;
  let bounded: DynamoStores;
  beforeAll(async () => {
    rig = await createDynamoRig();
    raw = rig.openClient();
    expiring = rig.open({ requestRetentionDays: 30, now: () => now });
    lasting = rig.open({ requestRetentionDays: 0, now: () => now });
    bounded = rig.open({ ...retention, now: () => now });
  });
  afterAll(async () => {
    await rig.dispose();
  });

  async function readItem(requestId: string): Promise<Record<string, AttributeValue>> {
    const Key = { requestId: { S: requestId } };
    const { Item } = await raw.send(new GetItemCommand({ TableName: DYNAMO_TABLES.requests, Key }));
    return Item ?? {};
  }

  /** When a request expires, in seconds since the epoch; its params do never, but go with it. */
  async function expiryOf({ requestId }: StoredRequest): Promise<number | undefined> {
    const head = await readItem(requestId);
    if (head.paramsKey !== undefined) expect(await readItem(head.paramsKey.S ?? '')).not.toHaveProperty('expiresAt');
    return head.expiresAt && Number(head.expiresAt.N);
  }

  async function finish({ requests }: DynamoStores, record: StoredRequest): Promise<void> {
    await requests.create(record);
    const claim = claimOf(record);
    await requests.claim(claim);
    await requests.report(reportOf(record, { relayer: claim.relayer, now: REPORTED_AT }));
  }

  const large = () => pendingRequest({ paramsJson: JSON.stringify({ payload: randomBytes(5000).toString('hex') }) });

  test.each(['requests', 'rateLimits'] as const)('DynamoDB removes what has expired from %s', async (table) => {
    const TableName = DYNAMO_TABLES[table];
    const { TimeToLiveDescription } = await raw.send(new DescribeTimeToLiveCommand({ TableName }));
    expect(TimeToLiveDescription).toMatchObject({ AttributeName: 'expiresAt', TimeToLiveStatus: 'ENABLED' });
  });

  test('what nobody claims expires after its own time, from its creation on', async () => {
    const [small, withItem] = [pendingRequest(), large()];
    for (const record of [small, withItem]) await bounded.requests.create(record);
    for (const record of [small, withItem]) expect(await expiryOf(record)).toBe(PENDING_EXPIRES_AT);
    now = PENDING_EXPIRES_AT * 1000;
    for (const record of [small, withItem]) {
      expect(await bounded.requests.get(record.requestId)).toBeUndefined();
      expect(await bounded.requests.claim(claimOf(record))).toEqual({ outcome: 'missing' });
      expect(await bounded.requests.claimAll([claimOf(record)])).toEqual([{ outcome: 'missing' }]);
    }
    now = START;
  });

  test.each(['small', 'large'])('a claim keeps a %s one, also after it was given back', async (size) => {
    const record = size === 'small' ? pendingRequest() : large();
    await bounded.requests.create(record);
    const claim = claimOf(record);
    await bounded.requests.claim(claim);
    expect(await expiryOf(record)).toBeUndefined();
    const release = { requestId: record.requestId, relayer: claim.relayer, releaseId: 'any', now: START };
    await bounded.requests.release(release);
    expect(await expiryOf(record)).toBeUndefined();
  });

  // Shows DYNAMO-7.
  test('a signature may be taken again once its request has expired', async () => {
    const submission = { key: randomBytes(32).toString('base64url'), once: true };
    const [first, second] = [large(), large()];
    await bounded.requests.create(first, submission);
    now = PENDING_EXPIRES_AT * 1000;
    expect(await bounded.requests.create(second, submission)).toEqual({ outcome: 'created' });
    now = START;
  });

  test('a finished request expires so many days after its report, with its params', async () => {
    const [small, withItem] = [pendingRequest(), large()];
    await finish(expiring, small);
    await finish(expiring, withItem);
    for (const record of [small, withItem]) expect(await expiryOf(record)).toBe(EXPIRES_AT);
  });

  test('by default nothing expires', async () => {
    const record = large();
    await finish(lasting, record);
    expect(await expiryOf(record)).toBeUndefined();
  });

  test('what is not finished does not expire', async () => {
    const record = large();
    await expiring.requests.create(record);
    await expiring.requests.claim(claimOf(record));
    expect(await expiryOf(record)).toBeUndefined();
  });

  // Shows DYNAMO-2.
  test('an expired request is gone, although DynamoDB has not removed it yet', async () => {
    const record = pendingRequest({ signer: anyAddress() });
    await finish(expiring, record);
    const query = { filter: { signer: record.signer }, order: 'asc', limit: 5 } as const;
    now = EXPIRES_AT * 1000 - 1;
    expect((await expiring.requests.list(query)).items).toHaveLength(1);
    expect(await expiring.requests.get(record.requestId)).toBeDefined();
    now = EXPIRES_AT * 1000;
    expect((await expiring.requests.list(query)).items).toHaveLength(0);
    expect(await expiring.requests.get(record.requestId)).toBeUndefined();
    expect(await expiring.requests.claim(claimOf(record))).toEqual({ outcome: 'missing' });
    now = START;
  });

  test('a counter of hits expires when no window needs it any more', async () => {
    const key = anyAddress();
    const window = Math.floor(START / 60_000);
    await expiring.rateLimits.take({ key, limit: 5, window, elapsed: 0 });
    const { Items = [] } = await raw.send(new ScanCommand({ TableName: DYNAMO_TABLES.rateLimits }));
    const expiresAt = Number(Items.find((item) => item.client?.S === key)?.expiresAt?.N) * 1000;
    expect(expiresAt).toBeGreaterThanOrEqual((window + 2) * 60_000);
    expect(expiresAt).toBeLessThan(START + DAY_MS);
  });
});
