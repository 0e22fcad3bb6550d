import { describe, expect, test } from 'vitest';
import type { Claim, RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import { claimedRecord, claimOf, pendingRequest, reportOf, START } from '../storedRequests.ts';
import type { StoreUnderTest } from '../storeUnderTest.ts';

/** When the first claim of each test is made. */
const CLAIMED_AT = START + 1000;
/** When another relayer asks, in milliseconds since the epoch. */
const LATER = START + 61_000;

/** Contract of `claim` with leases: who may take over an expired claim. */
export function describeLeases(use: () => StoreUnderTest<RequestStore>): void {
  async function claimed(): Promise<{ readonly record: StoredRequest; readonly first: Claim }> {
    const record = pendingRequest();
    await use().store.create(record);
    const first = claimOf(record, { now: CLAIMED_AT });
    await use().store.claim(first);
    return { record, first };
  }

  describe('leases', () => {
    test.each([
      ['made at the very time', CLAIMED_AT],
      ['made before the time', CLAIMED_AT + 1],
    ])('a claim %s that counts as expired is taken over', async (_, leaseExpiredAt) => {
      const { store } = use();
      const { record } = await claimed();
      const second = claimOf(record, { now: LATER, leaseExpiredAt });
      const moved = claimedRecord(record, second);
      expect(await store.claim(second)).toStrictEqual({ outcome: 'moved', record: moved });
      expect(await store.get(record.requestId)).toStrictEqual(moved);
    });

    test.each([
      ['made after the time that counts as expired', { leaseExpiredAt: CLAIMED_AT - 1 }],
      ['where leases are off', {}],
    ])('a claim %s is not taken over', async (_, lease) => {
      const { store } = use();
      const { record, first } = await claimed();
      const second = await store.claim(claimOf(record, { now: LATER, ...lease }));
      expect(second).toStrictEqual({ outcome: 'conflict', record: claimedRecord(record, first) });
    });

    test('a pending request is claimed with a lease as without', async () => {
      const { store } = use();
      const record = pendingRequest();
      await store.create(record);
      const claim = claimOf(record, { leaseExpiredAt: START });
      expect(await store.claim(claim)).toStrictEqual({ outcome: 'moved', record: claimedRecord(record, claim) });
    });

    test('a repetition of the claim that took over is answered as the first time', async () => {
      const { store } = use();
      const { record } = await claimed();
      const second = claimOf(record, { now: LATER, leaseExpiredAt: CLAIMED_AT });
      const answer = await store.claim(second);
      expect(await store.claim(second)).toStrictEqual(answer);
    });

    test('of rivals for an expired claim in two processes one takes it over', async () => {
      const { store, openPeer } = use();
      const peer = (await openPeer?.()) ?? store;
      const { record } = await claimed();
      const rivals = Array.from({ length: 20 }, () => claimOf(record, { now: LATER, leaseExpiredAt: CLAIMED_AT }));
      const answers = await Promise.all(rivals.map((claim, i) => (i % 2 === 0 ? store : peer).claim(claim)));
      expect(answers.filter(({ outcome }) => outcome === 'moved')).toHaveLength(1);
    });

    test('the first owner may still report while nobody has taken over', async () => {
      const { store } = use();
      const { record, first } = await claimed();
      const report = reportOf(record, { relayer: first.relayer, now: LATER * 2 });
      expect(await store.report(report)).toMatchObject({ outcome: 'moved', record: { status: 'success' } });
    });

    test('once taken over, only the new owner may report', async () => {
      const { store } = use();
      const { record, first } = await claimed();
      const second = claimOf(record, { now: LATER, leaseExpiredAt: CLAIMED_AT });
      await store.claim(second);
      const late = await store.report(reportOf(record, { relayer: first.relayer }));
      expect(late).toStrictEqual({ outcome: 'conflict', record: claimedRecord(record, second) });
      const own = await store.report(reportOf(record, { relayer: second.relayer, now: LATER + 1 }));
      expect(own).toMatchObject({ outcome: 'moved', record: { status: 'success', claimedBy: second.relayer } });
    });

    test('a reported request is never taken over', async () => {
      const { store } = use();
      const { record, first } = await claimed();
      const reported = await store.report(reportOf(record, { relayer: first.relayer }));
      const late = await store.claim(claimOf(record, { now: LATER, leaseExpiredAt: LATER }));
      expect(late).toStrictEqual({ ...reported, outcome: 'conflict' });
    });

    test('of a report and a take-over at once exactly one moves', async () => {
      const { store, openPeer } = use();
      const peer = (await openPeer?.()) ?? store;
      for (let i = 0; i < 20; i++) {
        const { record, first } = await claimed();
        const takeOver = claimOf(record, { now: LATER, leaseExpiredAt: CLAIMED_AT });
        const answers = await Promise.all([
          (i % 2 === 0 ? store : peer).report(reportOf(record, { relayer: first.relayer })),
          (i % 3 === 0 ? store : peer).claim(takeOver),
        ]);
        expect(answers.map(({ outcome }) => outcome).sort()).toStrictEqual(['conflict', 'moved']);
      }
    });
  });
}
