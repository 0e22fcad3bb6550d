import { randomBytes } from 'node:crypto';
import {
  type AttributeValue,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  GetItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL, anyAddress, claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { type AskedWrite, createBreakingClient } from '../../../test/rigs/dynamoBreakingClient.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';
import type { DynamoStores } from './createDynamoStores.ts';

const DAY_MS = 86_400_000;
const REPORTED_AT = START + 2000;
const DAY_SECONDS = 86_400;
const EXPIRES_AT = REPORTED_AT / 1000 + 30 * DAY_SECONDS;
/** Params outlive their head by a day. */
const PARAMS_EXPIRE_AT = EXPIRES_AT + DAY_SECONDS;
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

  /** Params never stay behind: as long as the head is to go, they are, and later. */
  async function expectNoOrphan(record: StoredRequest): Promise<void> {
    const [head, params] = await expiriesOf(record);
    if (head !== undefined) expect(params ?? 0).toBeGreaterThan(head);
  }

  const large = () => pendingRequest({ paramsJson: JSON.stringify({ payload: randomBytes(5000).toString('hex') }) });

  test.each(['requests', 'rateLimits'] as const)('DynamoDB removes what has expired from %s', async (table) => {
    const TableName = DYNAMO_TABLES[table];
    const { TimeToLiveDescription } = await raw.send(new DescribeTimeToLiveCommand({ TableName }));
    expect(TimeToLiveDescription).toMatchObject({ AttributeName: 'expiresAt', TimeToLiveStatus: 'ENABLED' });
  });

  /** A process in which some writes fail; it says which have failed. */
  function openFailing(fault: { readonly of: 'params' | 'head'; readonly done: boolean }, record: StoredRequest) {
    let isBroken = true;
    let failed = 0;
    const isMet = ({ command, requestId, update }: AskedWrite) => {
      if (!isBroken || command !== 'UpdateItemCommand') return false;
      const isOfParams = requestId.startsWith(`${record.requestId}#`);
      const isMet = fault.of === 'params' ? isOfParams : !isOfParams && update.includes('paramsExpireAt');
      if (isMet) failed++;
      return isMet;
    };
    const client = createBreakingClient(rig.endpoint, fault.done ? { after: isMet } : { before: isMet });
    const { requests } = rig.open({ client, ...retention, now: () => now });
    return {
      requests,
      repair() {
        expect(failed).toBeGreaterThan(0);
        isBroken = false;
      },
    };
  }

  // Shows DYNAMO-2.
  describe.each([
    ['is throttled before the params are told', { of: 'params', done: false }],
    ['loses the answer of the params', { of: 'params', done: true }],
    ['is throttled before the head is told', { of: 'head', done: false }],
    ['loses the answer of the head', { of: 'head', done: true }],
  ] as const)('a process that %s', (_, fault) => {
    const outage = { code: 'DEPENDENCY_UNAVAILABLE' };

    test.each(['renewal', 'read', 'report'])('leaves a claim that the next %s finishes', async (by) => {
      const record = large();
      await bounded.requests.create(record);
      const failing = openFailing(fault, record);
      const claim = claimOf(record);
      await expect(failing.requests.claim(claim)).rejects.toMatchObject(outage);
      await expectNoOrphan(record);
      failing.repair();
      if (by === 'renewal') await bounded.requests.claimAll([claimOf(record, { relayer: claim.relayer })], ALL);
      else if (by === 'read') await bounded.requests.get(record.requestId);
      else await lasting.requests.report(reportOf(record, { relayer: claim.relayer }));
      expect(await expiriesOf(record)).toEqual([undefined, undefined]);
    });

    test.each(['report', 'read'])('leaves a report that the next %s finishes', async (by) => {
      const record = large();
      await bounded.requests.create(record);
      const claim = claimOf(record);
      await bounded.requests.claim(claim);
      const failing = openFailing(fault, record);
      const report = reportOf(record, { relayer: claim.relayer, now: REPORTED_AT });
      await expect(failing.requests.report(report)).rejects.toMatchObject(outage);
      await expectNoOrphan(record);
      failing.repair();
      if (by === 'read') await bounded.requests.get(record.requestId);
      else await failing.requests.report(reportOf(record, { relayer: claim.relayer }));
      expect(await expiriesOf(record)).toEqual([EXPIRES_AT, PARAMS_EXPIRE_AT]);
    });
  });

  test('whatever is throttled or lost, head and params agree in the end', async () => {
    const stormy = [rig.open({ ...retention, now: () => now }), rig.open({ ...retention, now: () => now })];
    rig.proxy.setShares({ cutAfter: 0.25, cutBefore: 0.25, throttle: 0.2 });
    const insist = async <T>(act: () => Promise<T>): Promise<T> => {
      for (;;) {
        try {
          return await act();
        } catch (error) {
          if (!(error instanceof DependencyUnavailableError)) throw error;
        }
      }
    };
    const records = Array.from({ length: 12 }, large);
    await Promise.all(
      records.map(async (record, i) => {
        const { requests } = stormy[i % 2]!;
        const [relayer, other] = [anyAddress(), stormy[(i + 1) % 2]!.requests];
        await insist(() => requests.create(record));
        await insist(() => requests.claimAll([claimOf(record, { relayer })], ALL));
        // Two processes at once, as where a relayer did not wait for the answer.
        const renewal = insist(() => requests.claimAll([claimOf(record, { relayer })], ALL));
        await insist(() => other.report(reportOf(record, { relayer, now: REPORTED_AT })));
        await renewal;
      }),
    );
    rig.proxy.setShares({});
    for (const record of records) {
      await bounded.requests.get(record.requestId);
      expect(await expiriesOf(record)).toEqual([EXPIRES_AT, PARAMS_EXPIRE_AT]);
    }
  });

  test('what nobody claims expires after its own time, from its creation on', async () => {
    const [small, withItem] = [pendingRequest(), large()];
    for (const record of [small, withItem]) await bounded.requests.create(record);
    expect(await expiriesOf(small)).toEqual([PENDING_EXPIRES_AT, undefined]);
    expect(await expiriesOf(withItem)).toEqual([PENDING_EXPIRES_AT, PENDING_EXPIRES_AT + DAY_SECONDS]);
    now = PENDING_EXPIRES_AT * 1000;
    for (const record of [small, withItem]) {
      expect(await bounded.requests.get(record.requestId)).toBeUndefined();
      expect(await bounded.requests.claim(claimOf(record))).toEqual({ outcome: 'missing' });
      expect(await bounded.requests.claimAll([claimOf(record)], ALL)).toEqual([{ outcome: 'missing' }]);
    }
    now = START;
  });

  test.each(['small', 'large'])('a claim keeps a %s one, also after it was given back', async (size) => {
    const record = size === 'small' ? pendingRequest() : large();
    await bounded.requests.create(record);
    const claim = claimOf(record);
    await bounded.requests.claim(claim);
    expect(await expiriesOf(record)).toEqual([undefined, undefined]);
    const release = { requestId: record.requestId, relayer: claim.relayer, releaseId: 'any', now: START };
    await bounded.requests.release(release);
    expect(await expiriesOf(record)).toEqual([undefined, undefined]);
  });

  // Shows DYNAMO-7.
  test('a signature may be taken again once its request has expired', async () => {
    const submission = { signatureKey: randomBytes(32).toString('base64url'), once: true };
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
    expect(await expiriesOf(small)).toEqual([EXPIRES_AT, undefined]);
    expect(await expiriesOf(withItem)).toEqual([EXPIRES_AT, PARAMS_EXPIRE_AT]);
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
