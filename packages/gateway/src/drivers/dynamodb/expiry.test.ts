import { randomBytes } from 'node:crypto';
import {
  type AttributeValue,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  GetItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { DYNAMO_TEST_ACCESS } from '@prism-gateway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyAddress, claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { createDynamoClient } from './createDynamoClient.ts';
import type { DynamoStores } from './createDynamoStores.ts';

const DAY_MS = 86_400_000;
const REPORTED_AT = START + 2000;
const EXPIRES_AT = REPORTED_AT / 1000 + 30 * 86_400;

describeWithDynamo('expiry', () => {
  let now = START;
  let rig: DynamoRig;
  let raw: DynamoDBClient;
  let expiring: DynamoStores;
  let lasting: DynamoStores;
  beforeAll(async () => {
    rig = await createDynamoRig();
    raw = createDynamoClient({ endpoint: rig.endpoint, ...DYNAMO_TEST_ACCESS });
    expiring = rig.open({ requestRetentionDays: 30, now: () => now });
    lasting = rig.open({ requestRetentionDays: 0, now: () => now });
  });
  afterAll(async () => {
    raw.destroy();
    await rig.dispose();
  });

  async function readItem(requestId: string): Promise<Record<string, AttributeValue>> {
    const Key = { requestId: { S: requestId } };
    const { Item } = await raw.send(new GetItemCommand({ TableName: DYNAMO_TABLES.requests, Key }));
    return Item ?? {};
  }

  /** When a request and its params expire, in seconds since the epoch. */
  async function expiriesOf({ requestId }: StoredRequest): Promise<(number | undefined)[]> {
    const head = await readItem(requestId);
    const params = await readItem(head.paramsKey?.S ?? 'none');
    return [head, params].map(({ expiresAt }) => (expiresAt?.N === undefined ? undefined : Number(expiresAt.N)));
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

  test('params whose expiry was not written get it with the owner’s next report', async () => {
    const client = createDynamoClient({ endpoint: rig.endpoint, ...DYNAMO_TEST_ACCESS });
    let isBroken = false;
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (call) => {
          const { Key } = call.input as { Key?: { requestId?: { S?: string } } };
          const isOfParams = commandName === 'UpdateItemCommand' && Key?.requestId?.S !== record.requestId;
          if (isBroken && (commandName === 'BatchGetItemCommand' || isOfParams)) {
            throw Object.assign(new Error('throttled'), { name: 'ProvisionedThroughputExceededException' });
          }
          return await next(call);
        },
      { step: 'initialize' },
    );
    const failing = rig.open({ client, requestRetentionDays: 30, now: () => now });
    const record = pendingRequest({ paramsJson: JSON.stringify({ payload: randomBytes(5000).toString('hex') }) });
    await expiring.requests.create(record);
    const claim = claimOf(record);
    await expiring.requests.claim(claim);
    const report = reportOf(record, { relayer: claim.relayer });
    isBroken = true;
    await expect(failing.requests.report(report)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    expect(await expiriesOf(record)).toEqual([EXPIRES_AT, undefined]);
    isBroken = false;
    await failing.requests.report(reportOf(record, { relayer: claim.relayer }));
    expect(await expiriesOf(record)).toEqual([EXPIRES_AT, EXPIRES_AT]);
  });

  test('a finished request expires so many days after its report, with its params', async () => {
    const [small, withItem] = [pendingRequest(), large()];
    await finish(expiring, small);
    await finish(expiring, withItem);
    expect(await expiriesOf(small)).toEqual([EXPIRES_AT, undefined]);
    expect(await expiriesOf(withItem)).toEqual([EXPIRES_AT, EXPIRES_AT]);
  });

  test('by default nothing expires', async () => {
    const record = large();
    await finish(lasting, record);
    expect(await expiriesOf(record)).toEqual([undefined, undefined]);
  });

  test('what is not finished does not expire', async () => {
    const record = large();
    await expiring.requests.create(record);
    await expiring.requests.claim(claimOf(record));
    expect(await expiriesOf(record)).toEqual([undefined, undefined]);
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
