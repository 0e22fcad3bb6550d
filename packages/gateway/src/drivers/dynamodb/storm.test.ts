import { shareFaults } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyChain, claimOf, pendingRequest, reportOf } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { RequestStore, StoredRequest } from '../../ports/requestStore.ts';
import { createDynamoClient } from './createDynamoClient.ts';

/** Share of all calls that something befalls. */
const FAULT_SHARE = 0.1;
const REQUESTS = sized({ small: 40, long: 600 });
/** Relayers that go for every request. */
const RIVALS = 4;
/** Requests under way at once. */
const LANES = 12;

/** Asks until it is no outage, as a client does that is told to try again. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      expect(error).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    }
  }
}

describeWithDynamo(`faults on ${FAULT_SHARE * 100} % of all calls, under load`, () => {
  let rig: DynamoRig;
  let processes: RequestStore[];
  beforeAll(async () => {
    rig = await createDynamoRig({ createClient: createDynamoClient });
    processes = [rig.open().requests, rig.open().requests];
    rig.proxy.setShares({
      ...shareFaults(FAULT_SHARE * 0.95, [
        'delay',
        'cutBefore',
        'cutAfter',
        'cutInAnswer',
        'throttle',
        'serverError',
        'serverErrorAfter',
        'unavailable',
      ]),
      // Each takes a second and more.
      ...shareFaults(FAULT_SHARE * 0.05, ['stallBefore', 'stallAfter']),
    });
  });
  afterAll(() => rig.dispose());

  const process = (i: number) => processes[i % processes.length] ?? rig.open().requests;

  /** Lets rivals claim a request, and its owner report. @returns what must now stand */
  async function live(record: StoredRequest): Promise<StoredRequest> {
    const claims = Array.from({ length: RIVALS }, () => claimOf(record));
    // Each rival repeats its own call, so its own claim is never a conflict to it.
    const answers = await Promise.all(claims.map((claim, i) => insist(() => process(i).claim(claim))));
    const owners = claims.filter((_, i) => answers[i]?.outcome === 'moved');
    expect(owners).toHaveLength(1);
    const relayer = owners[0]?.relayer ?? '';
    for (const answer of answers) expect(answer).toMatchObject({ record: { claimedBy: relayer } });

    const report = reportOf(record, { relayer });
    const foreign = reportOf(record, { relayer: claims.find((claim) => claim.relayer !== relayer)?.relayer ?? '' });
    const refused = await insist(() => process(0).report(foreign));
    expect(refused.outcome).toBe('conflict');
    const reported = await insist(() => process(1).report(report));
    expect(reported).toMatchObject({ outcome: 'moved', record: { status: 'success', claimedBy: relayer } });
    if (reported.outcome !== 'moved') throw new Error('just checked');
    return reported.record;
  }

  test('no acknowledged write is lost, nothing is claimed twice, no owner is told of a conflict', async () => {
    const chainName = anyChain();
    const expected = new Map<string, StoredRequest>();
    const waiting = Array.from({ length: REQUESTS }, (_, i) => {
      const payload = 'ab'.repeat(i % 5 === 0 ? 5000 : 50);
      return pendingRequest({ chainName, paramsJson: JSON.stringify({ i, payload }) });
    });
    async function work(lane: number): Promise<void> {
      for (let record = waiting.pop(); record !== undefined; record = waiting.pop()) {
        const wanted = record;
        await insist(() => process(lane).create(wanted));
        expected.set(wanted.requestId, await live(wanted));
      }
    }
    await Promise.all(Array.from({ length: LANES }, (_, lane) => work(lane)));

    const walked = new Map<string, StoredRequest>();
    let walkedRecords = 0;
    for (let after: string | null | undefined; after !== null; ) {
      const query = { filter: { chainName }, order: 'asc', limit: 7, ...(after !== undefined && { after }) } as const;
      const page = await insist(() => process(0).list(query));
      walkedRecords += page.items.length;
      for (const record of page.items) walked.set(record.requestId, record);
      after = page.next;
    }
    expect(walkedRecords).toBe(REQUESTS);
    for (const [requestId, record] of expected) {
      expect(walked.get(requestId)).toStrictEqual(record);
      expect(await insist(async () => process(1).get(requestId))).toStrictEqual(record);
    }
    const faults = Object.entries(rig.proxy.counts).filter(([kind]) => kind !== 'passed');
    expect(faults.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(REQUESTS / 2);
  });
});
