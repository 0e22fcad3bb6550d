import { randomBytes } from 'node:crypto';
import { DYNAMO_TEST_ACCESS, type FaultKind, type ProxiedCall } from '@prism-gateway/testing';
import { isLong } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  anyAddress,
  claimedRecord,
  claimOf,
  pendingRequest,
  reportOf,
  START,
} from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { createDynamoClient } from './createDynamoClient.ts';
import type { DynamoStores } from './createDynamoStores.ts';

/** All is done, and the answer is lost. */
const lostAnswers: readonly FaultKind[] = [
  'cutAfter',
  'cutInAnswer',
  'stallAfter',
  'stallInAnswer',
  'serverErrorAfter',
];
/** Nothing is done. */
const refusals: readonly FaultKind[] = ['cutBefore', 'stallBefore', 'throttle', 'serverError', 'unavailable'];
/** Those that a client must wait for, more than a second each. */
const slow: readonly FaultKind[] = ['stallBefore', 'stallAfter', 'stallInAnswer'];
/** Tries of the client of what fails at once. */
const TRIES = 7;
/** Longest that a call may take when nothing answers, in milliseconds: six seconds on an idle machine, and less than a function's 29. */
const GIVES_UP_WITHIN_MS = 25_000;

const isWrite = ({ headers }: ProxiedCall) => /PutItem|UpdateItem|DeleteItem/.test(`${headers['x-amz-target']}`);

describeWithDynamo('faults between the gateway and DynamoDB', () => {
  let rig: DynamoRig;
  let patient: DynamoStores;
  let stores: DynamoStores;
  beforeAll(async () => {
    rig = await createDynamoRig();
    patient = rig.open();
    stores = patient;
  });
  beforeEach(() => {
    rig.proxy.setShares({});
    rig.proxy.planFaults([]);
  });
  afterAll(() => rig.dispose());

  async function created(): Promise<StoredRequest> {
    const record = pendingRequest();
    await stores.requests.create(record);
    return record;
  }

  async function claimed() {
    const record = await created();
    const claim = claimOf(record);
    await stores.requests.claim(claim);
    return { record, claim };
  }

  describe.each([...lostAnswers, ...refusals])('one write meets %s', (fault) => {
    beforeAll(() => {
      // What never comes ends by the gateway's own client alone.
      const client = () => createDynamoClient({ endpoint: rig.proxy.url, ...DYNAMO_TEST_ACCESS });
      if (slow.includes(fault)) stores = rig.open({ client: client() });
      return () => {
        stores = patient;
      };
    });

    const testUnlessSlow = test.skipIf(slow.includes(fault) && !isLong);

    testUnlessSlow('a creation is acknowledged and there', async () => {
      rig.proxy.planFaults([fault], isWrite);
      const record = await created();
      expect(await stores.requests.get(record.requestId)).toStrictEqual(record);
    });

    // Shows STORE-1.
    test('a claim is won, and says so', async () => {
      const record = await created();
      const claim = claimOf(record);
      rig.proxy.planFaults([fault], isWrite);
      const moved = { outcome: 'moved', record: claimedRecord(record, claim) };
      expect(await stores.requests.claim(claim)).toStrictEqual(moved);
    });

    testUnlessSlow('a take-over of a lapsed claim is won, and says so', async () => {
      const { record } = await claimed();
      const second = claimOf(record, { now: START + 90_000, leaseExpiredAt: START + 60_000 });
      rig.proxy.planFaults([fault], isWrite);
      const moved = { outcome: 'moved', record: claimedRecord(record, second) };
      expect(await stores.requests.claim(second)).toStrictEqual(moved);
    });

    testUnlessSlow('the owner’s report is accepted, and says so', async () => {
      const { record, claim } = await claimed();
      rig.proxy.planFaults([fault], isWrite);
      // In other letters, so that it takes two conditional writes.
      const report = reportOf(record, { relayer: claim.relayer.toLowerCase() });
      expect(await stores.requests.report(report)).toMatchObject({ outcome: 'moved', record: { status: 'success' } });
    });

    testUnlessSlow('a lost claim is still a conflict', async () => {
      const { record, claim } = await claimed();
      rig.proxy.planFaults([fault], isWrite);
      const standing = { outcome: 'conflict', record: claimedRecord(record, claim) };
      expect(await stores.requests.claim(claimOf(record))).toStrictEqual(standing);
      // The conflict is counted in the background: none of the writes to come.
      await stores.admin.readStats(START);
    });

    testUnlessSlow('a relayer is added with its own time, and removed', async () => {
      const address = anyAddress();
      rig.proxy.planFaults([fault], isWrite);
      expect(await stores.relayers.put({ address, now: START })).toMatchObject({ createdAt: START, updatedAt: START });
      rig.proxy.planFaults([fault], isWrite);
      await stores.relayers.remove(address);
      expect(await stores.relayers.find(address)).toBeUndefined();
    });

    testUnlessSlow('a hit is counted once or, where its answer was lost, twice', async () => {
      const hit = { key: anyAddress(), limit: 9, window: 30_000_000, elapsed: 0.5 };
      rig.proxy.planFaults([fault], isWrite);
      expect(await stores.rateLimits.take(hit)).toMatchObject({ allowed: true });
      const { current } = await stores.rateLimits.peek(hit.key, hit.window);
      expect(current).toBe(lostAnswers.includes(fault) ? 2 : 1);
    });
  });

  test('reads and lists are tried again', async () => {
    const { requestId, signer } = await created();
    const { requests } = rig.open();
    for (const fault of ['cutInAnswer', 'throttle', 'serverError', 'unavailable', 'cutBefore'] as const) {
      rig.proxy.planFaults([fault, fault]);
      expect(await requests.get(requestId)).toBeDefined();
      rig.proxy.planFaults([fault, fault]);
      const page = await requests.list({ filter: { signer }, order: 'asc', limit: 5 });
      expect(page.items.map((record) => record.requestId)).toEqual([requestId]);
    }
  });

  test('a call that is repeated after its own claim has lapsed takes nothing over from itself', async () => {
    const { record, claim } = await claimed();
    const later = START + 90_000;
    const repeated = await stores.requests.claim({ ...claim, now: later, leaseExpiredAt: later });
    expect(repeated).toStrictEqual({ outcome: 'moved', record: claimedRecord(record, claim) });
  });

  // Shows DYNAMO-4.
  test('where every answer of a claim is lost, it is an outage and never a conflict', async () => {
    const record = await created();
    const claim = claimOf(record);
    const { requests } = rig.open();
    rig.proxy.planFaults(Array(TRIES).fill('cutAfter'), isWrite);
    await expect(requests.claim(claim)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    expect(await requests.claim(claim)).toMatchObject({ outcome: 'moved' });
    const standing = claimedRecord(record, claim);
    expect(await requests.claim(claimOf(record))).toStrictEqual({ outcome: 'conflict', record: standing });
  });

  test('a creation that dies between params and head leaves nothing that shows', async () => {
    const record = pendingRequest({ paramsJson: JSON.stringify({ payload: randomBytes(5000).toString('hex') }) });
    const { requests } = rig.open();
    let writes = 0;
    rig.proxy.planFaults(Array(TRIES).fill('cutBefore'), (call) => isWrite(call) && ++writes > 1);
    await expect(requests.create(record)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    expect(await requests.get(record.requestId)).toBeUndefined();
    const query = { filter: { signer: record.signer }, order: 'asc', limit: 5 } as const;
    expect(await requests.list(query)).toEqual({ items: [], next: null });
    await requests.create(record);
    expect(await requests.get(record.requestId)).toStrictEqual(record);
  });
});

describeWithDynamo('a DynamoDB that never answers well', () => {
  test.concurrent.each(['stallBefore', 'stallInAnswer', 'throttle', 'unavailable', 'cutBefore'] as const)(
    '%s: every call is an outage in good time',
    async (fault) => {
      await using rig = await createDynamoRig({ createClient: createDynamoClient });
      const { requests, relayers, rateLimits, checkReady } = rig.open();
      const record = pendingRequest();
      await requests.create(record);
      const hit = { key: anyAddress(), limit: 9, window: 30_000_000, elapsed: 0.5 };
      rig.proxy.setShares({ [fault]: 1 });
      const startedAt = performance.now();
      const calls = [
        requests.create(pendingRequest()),
        requests.get(record.requestId),
        requests.list({ filter: { status: 'pending' }, order: 'asc', limit: 20 }),
        requests.claim(claimOf(record)),
        requests.report(reportOf(record, { relayer: anyAddress() })),
        requests.stats(),
        relayers.find(anyAddress()),
        rateLimits.take(hit),
        rateLimits.peek(hit.key, hit.window),
        checkReady(),
      ];
      const outage = { code: 'DEPENDENCY_UNAVAILABLE', dependency: 'store' };
      for (const answer of await Promise.allSettled(calls)) {
        expect(answer).toMatchObject({ status: 'rejected', reason: outage });
      }
      expect(performance.now() - startedAt).toBeLessThan(GIVES_UP_WITHIN_MS);
    },
  );
});
