import { sized } from '@prism-gateway/testing/test-size';
import { describe, expect, test } from 'vitest';
import type { Claim, Release, RequestHead, RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import { anyAddress, claimedRecord, claimOf, pendingRequest, reportOf, START } from '../storedRequests.ts';
import type { StoreUnderTest } from '../storeUnderTest.ts';

/** Rivals for one set of requests. */
const RIVALS = sized({ small: 4, long: 8 });
const RELAYER = anyAddress();

const releaseOf = ({ requestId }: StoredRequest, fields: Partial<Release> & Pick<Release, 'relayer'>): Release => ({
  requestId,
  releaseId: crypto.randomUUID(),
  now: START + 3000,
  ...fields,
});

const headOf = ({ paramsJson: _, ...head }: StoredRequest): RequestHead => head;

const otherCase = (address: string) => `0x${address.slice(2).toLowerCase()}`;

/** Contract of `claimAll`, `reportAll` and `release`. */
export function describeBatches(use: () => StoreUnderTest<RequestStore>): void {
  async function created(count: number, fields: Partial<StoredRequest> = {}): Promise<StoredRequest[]> {
    const records = Array.from({ length: count }, (_, i) => pendingRequest({ createdAt: START + i, ...fields }));
    await Promise.all(records.map((record) => use().store.create(record)));
    return records;
  }

  async function claimed(
    fields: Partial<Claim> = {},
    ofRecord: Partial<StoredRequest> = {},
  ): Promise<{ record: StoredRequest; claim: Claim }> {
    const [record] = await created(1, ofRecord);
    const claim = claimOf(record!, { relayer: RELAYER, ...fields });
    await use().store.claim(claim);
    return { record: record!, claim };
  }

  describe('claimAll', () => {
    test('moves each pending request, in the order of the claims, and tells of the others', async () => {
      const { store } = use();
      const records = await created(3);
      const rival = claimOf(records[1]!);
      await store.claim(rival);
      const claims = [...records, pendingRequest()].map((record) => claimOf(record, { relayer: RELAYER }));
      expect(await store.claimAll(claims)).toStrictEqual([
        { outcome: 'moved', record: headOf(claimedRecord(records[0]!, claims[0]!)) },
        { outcome: 'conflict', status: 'processing' },
        { outcome: 'moved', record: headOf(claimedRecord(records[2]!, claims[2]!)) },
        { outcome: 'missing' },
      ]);
    });

    test.each([
      ['where leases are off', {}],
      ['under a lease that holds', { leaseExpiredAt: START }],
    ])('renews what the relayer holds already, %s, in whatever letter case', async (_, lease) => {
      const { store } = use();
      const { record } = await claimed();
      const again = claimOf(record, { relayer: RELAYER, now: START + 9000, ...lease });
      const [answer] = await store.claimAll([{ ...again, relayer: otherCase(RELAYER) }]);
      expect(answer).toMatchObject({ outcome: 'moved', record: { claimedAt: START + 9000, status: 'processing' } });
      expect(await store.get(record.requestId)).toMatchObject({ claimedAt: START + 9000 });
    });

    test('renews nothing that another relayer holds', async () => {
      const { store } = use();
      const { record, claim } = await claimed();
      const [answer] = await store.claimAll([claimOf(record, { now: START + 9000, leaseExpiredAt: START })]);
      expect(answer).toStrictEqual({ outcome: 'conflict', status: 'processing' });
      expect(await store.get(record.requestId)).toStrictEqual(claimedRecord(record, claim));
    });

    test('is answered as the first time when the same call repeats it', async () => {
      const { store } = use();
      const records = await created(2);
      const claims = records.map((record) => claimOf(record, { relayer: RELAYER }));
      const first = await store.claimAll(claims);
      const later = claims.map((claim) => ({ ...claim, now: claim.now + 1 }));
      expect(await store.claimAll(later)).toStrictEqual(first);
    });

    test('of rivals for the same hundred each request has one winner', async () => {
      const { store, openPeer } = use();
      const peer = (await openPeer?.()) ?? store;
      const records = await created(100);
      const answers = await Promise.all(
        Array.from({ length: RIVALS }, (_, rival) => {
          const relayer = anyAddress();
          return (rival % 2 === 0 ? store : peer).claimAll(records.map((record) => claimOf(record, { relayer })));
        }),
      );
      const wins = records.map((_, i) => answers.filter((answer) => answer[i]?.outcome === 'moved').length);
      expect(wins).toStrictEqual(records.map(() => 1));
    });
  });

  describe('a lapsed claim', () => {
    const lapse = { now: START + 61_000, leaseExpiredAt: START + 1000 };

    test.each(['claim', 'claimAll'] as const)('is not its own relayer’s to take over by %s', async (method) => {
      const { store } = use();
      const { record, claim } = await claimed();
      const again = claimOf(record, { relayer: otherCase(RELAYER), ownLeaseExpiredAt: START - 59_000, ...lapse });
      const answer = method === 'claim' ? await store.claim(again) : (await store.claimAll([again]))[0];
      expect(answer).toMatchObject({ outcome: 'conflict' });
      expect(await store.get(record.requestId)).toStrictEqual(claimedRecord(record, claim));
    });

    test('is another’s, and its own relayer’s after one more lease', async () => {
      const { store } = use();
      const [first, second] = [await claimed(), await claimed()];
      const other = claimOf(first.record, { ownLeaseExpiredAt: START - 59_000, ...lapse });
      expect(await store.claim(other)).toMatchObject({ outcome: 'moved' });
      const own = claimOf(second.record, { relayer: RELAYER, ownLeaseExpiredAt: START + 1000, ...lapse });
      expect(await store.claim(own)).toMatchObject({ outcome: 'moved' });
    });
  });

  describe('reportAll', () => {
    test('moves what the relayer holds, and tells of the others', async () => {
      const { store } = use();
      const [own, others] = [await claimed(), await claimed({ relayer: anyAddress() })];
      const [pending] = await created(1);
      const reports = [own.record, others.record, pending!, pendingRequest()].map((record) =>
        reportOf(record, { relayer: RELAYER }),
      );
      const answers = await store.reportAll(reports);
      expect(answers.map(({ outcome }) => outcome)).toStrictEqual(['moved', 'conflict', 'conflict', 'missing']);
      expect(await store.get(own.record.requestId)).toMatchObject({ status: 'success' });
      expect(await store.get(others.record.requestId)).toMatchObject({ status: 'processing' });
      expect(await store.get(pending!.requestId)).toMatchObject({ status: 'pending' });
    });
  });

  // Shows BATCH-7.
  test('a batch of large records is made whole, and answers without their params', async () => {
    const { store } = use();
    const paramsJson = JSON.stringify({ payload: `0x${'ab'.repeat(100_000)}` });
    const records = await created(12, { paramsJson });
    const relayer = RELAYER;
    const claims = await store.claimAll(records.map((record) => claimOf(record, { relayer })));
    const reports = await store.reportAll(records.map((record) => reportOf(record, { relayer })));
    for (const [i, { requestId }] of records.entries()) {
      expect(claims[i]).toMatchObject({ outcome: 'moved', record: { requestId, status: 'processing' } });
      expect(reports[i]).toMatchObject({ outcome: 'moved', record: { requestId, status: 'success' } });
      expect([claims[i], reports[i]]).not.toMatchObject([{ record: { paramsJson: expect.anything() } }, {}]);
      expect(await store.get(requestId)).toMatchObject({ status: 'success', paramsJson });
    }
  });

  describe('release', () => {
    test('makes the request pending again, without a trace of the claim, for anyone to claim', async () => {
      const { store } = use();
      const { record } = await claimed();
      const release = releaseOf(record, { relayer: otherCase(RELAYER) });
      const released = { ...record, updatedAt: release.now };
      expect(await store.release(release)).toStrictEqual({ outcome: 'moved', record: released });
      expect(await store.get(record.requestId)).toStrictEqual(released);
      const filter = { status: 'pending', chainName: record.chainName } as const;
      expect((await store.list({ filter, order: 'asc', limit: 10 })).items).toStrictEqual([released]);
      expect(await store.claim(claimOf(record))).toMatchObject({ outcome: 'moved' });
    });

    test('is answered as the first time when the same call repeats it', async () => {
      const { store } = use();
      const { record } = await claimed();
      const release = releaseOf(record, { relayer: RELAYER });
      const first = await store.release(release);
      expect(await store.release({ ...release, now: release.now + 1 })).toStrictEqual(first);
    });

    test('is only for the relayer that holds it, as long as it does', async () => {
      const { store } = use();
      const { record, claim } = await claimed();
      const standing = { outcome: 'conflict', record: claimedRecord(record, claim) };
      expect(await store.release(releaseOf(record, { relayer: anyAddress() }))).toStrictEqual(standing);
      await store.report(reportOf(record, { relayer: RELAYER }));
      expect(await store.release(releaseOf(record, { relayer: RELAYER }))).toMatchObject({ outcome: 'conflict' });
      expect(await store.release(releaseOf(pendingRequest(), { relayer: RELAYER }))).toStrictEqual({
        outcome: 'missing',
      });
    });

    // Shows RELEASE-3.
    test('that names its claim gives back no later one', async () => {
      const { store } = use();
      const { record, claim } = await claimed();
      const release = releaseOf(record, { relayer: RELAYER, claimedAt: claim.now });
      expect(await store.release(release)).toMatchObject({ outcome: 'moved' });
      const later = claimOf(record, { relayer: RELAYER, now: START + 4000 });
      await store.claim(later);
      const again = { ...release, releaseId: crypto.randomUUID() };
      expect(await store.release(again)).toMatchObject({ outcome: 'conflict' });
      expect(await store.get(record.requestId)).toMatchObject({ status: 'processing', claimedAt: later.now });
      expect(await store.release({ ...again, claimedAt: later.now })).toMatchObject({ outcome: 'moved' });
    });

    test('and a report at once: exactly one moves', async () => {
      const { store, openPeer } = use();
      const peer = (await openPeer?.()) ?? store;
      for (let i = 0; i < 10; i++) {
        const { record } = await claimed();
        const answers = await Promise.all([
          (i % 2 === 0 ? store : peer).release(releaseOf(record, { relayer: RELAYER })),
          (i % 3 === 0 ? store : peer).report(reportOf(record, { relayer: RELAYER })),
        ]);
        expect(answers.map(({ outcome }) => outcome).sort()).toStrictEqual(['conflict', 'moved']);
      }
    });
  });
}
