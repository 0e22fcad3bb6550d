import { describe, expect, test } from 'vitest';
import type { Claim, RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import { anyAddress, anyChain, claimedRecord, claimOf, pendingRequest, reportOf, START } from '../storedRequests.ts';
import type { StoreUnderTest } from '../storeUnderTest.ts';
import { walkList } from '../walkList.ts';

/** When the first claim of each test is made. */
const CLAIMED_AT = START + 1000;
/** When another relayer asks, in milliseconds since the epoch. */
const LATER = START + 61_000;

/** Four minutes, from the first claim. */
const BOUND = (now: number) => ({ firstClaimedAfter: now - 4 * 60_000 });

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

    // Shows LEASE-4, LIST-7.
    test.each([
      ['of a chain', ({ chainName }: StoredRequest) => ({ chainName })],
      ['of a signer', ({ signer }: StoredRequest) => ({ signer })],
      ['of all', () => ({})],
    ])('a claim that has lapsed is listed among the pending %s, in their order, and no other claim', async (_, by) => {
      const { store } = use();
      const shared = { chainName: anyChain(), signer: anyAddress() };
      const records = Array.from({ length: 7 }, (__, i) => pendingRequest({ ...shared, createdAt: START + i }));
      for (const record of records) await store.create(record);
      const claims = [1, 3, 4].map((i) => claimOf(records[i]!, { now: CLAIMED_AT + (i === 4 ? 1 : 0) }));
      await store.claimAll(claims);
      await store.claim(claimOf(pendingRequest()));
      const filter = { status: 'pending', ...by(records[0]!) } as const;
      for (const order of ['asc', 'desc'] as const) {
        const expected = [0, 1, 2, 3, 5, 6].map((i) => records[i]!.requestId);
        const found = await walkList(store, { filter, order, limit: 2, leaseExpiredAt: CLAIMED_AT });
        const own = found.filter(({ signer }) => signer === shared.signer);
        expect(own.map(({ requestId }) => requestId)).toEqual(order === 'asc' ? expected : expected.toReversed());
        expect(own.filter(({ status }) => status === 'processing')).toHaveLength(2);
      }
      const held = await store.list({ filter, order: 'asc', limit: 100 });
      expect(held.items.filter(({ status }) => status !== 'pending')).toEqual([]);
    });

    test('a relayer holds a request by renewing up to a bound, also by a release between, and then leaves it for a lease', async () => {
      const { store } = use();
      const { record, first } = await claimed();
      const minute = 60_000;
      const by = (now: number, relayer = first.relayer) =>
        claimOf(record, { relayer, now, leaseExpiredAt: now - minute, ...BOUND(now) });
      const renew = async (now: number) => (await store.claimAll([by(now)])).map(({ outcome }) => outcome);
      for (const half of [1, 2, 3, 4, 5, 6, 7]) {
        expect([half, await renew(CLAIMED_AT + (half * minute) / 2)]).toEqual([half, ['moved']]);
      }
      const bound = CLAIMED_AT + 4 * minute;
      expect(await renew(bound)).toEqual(['conflict']);
      const releasedAt = bound + 1;
      const release = { ...record, relayer: first.relayer, releaseId: 'release', now: releasedAt };
      expect(await store.release(release)).toMatchObject({ outcome: 'moved' });
      const inOtherCase = first.relayer.toLowerCase();
      expect(await store.claim(by(releasedAt + 1, inOtherCase))).toMatchObject({
        outcome: 'conflict',
        record: { status: 'pending' },
      });
      const rival = by(releasedAt + 3, claimOf(record).relayer);
      expect(await store.claim(rival)).toMatchObject({ outcome: 'moved' });
      await store.release({ ...release, relayer: rival.relayer, releaseId: 'rival' });
      // It begins anew, for somebody else has held it since.
      expect(await store.claim(by(releasedAt + 4))).toMatchObject({ outcome: 'moved' });
      expect(await renew(releasedAt + minute / 2)).toEqual(['moved']);
    });

    test('who gives a request back early may claim it again at once, and who was without it for a lease begins anew', async () => {
      const { store } = use();
      const { record, first } = await claimed();
      const minute = 60_000;
      const claimAt = (now: number) =>
        store.claim(claimOf(record, { relayer: first.relayer, now, leaseExpiredAt: now - minute, ...BOUND(now) }));
      const giveBack = (now: number) =>
        store.release({ ...record, relayer: first.relayer, releaseId: `at ${now}`, now });
      await giveBack(CLAIMED_AT + 3 * minute);
      expect(await claimAt(CLAIMED_AT + 3 * minute + 1)).toMatchObject({ outcome: 'moved' });
      await giveBack(CLAIMED_AT + 4 * minute);
      expect(await claimAt(CLAIMED_AT + 4 * minute + 1)).toMatchObject({ outcome: 'conflict' });
      expect(await claimAt(CLAIMED_AT + 5 * minute)).toMatchObject({ outcome: 'moved' });
      await giveBack(CLAIMED_AT + 6 * minute);
      expect(await claimAt(CLAIMED_AT + 6 * minute + 1)).toMatchObject({ outcome: 'moved' });
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
