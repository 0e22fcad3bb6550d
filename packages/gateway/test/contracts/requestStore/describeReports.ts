import { describe, expect, test } from 'vitest';
import { type Claim, RECORD_BYTES, type RequestStore, type StoredRequest } from '../../../src/ports/requestStore.ts';
import {
  ALL,
  anyAddress,
  anyTxHash,
  claimedRecord,
  claimOf,
  pendingRequest,
  reportOf,
  START,
} from '../storedRequests.ts';
import type { CreateStore, StoreUnderTest } from '../storeUnderTest.ts';
import { useStore } from '../useStore.ts';

/** Contract of `stats`; a store that cannot count cheaply gives no counts. */
export function describeStats(createStore: CreateStore<RequestStore>): void {
  describe('stats', () => {
    const use = useStore(createStore);
    const useOther = useStore(createStore);

    test('follow every move, and name the oldest pending request', async () => {
      const { store, catchUp } = use();
      const expectStats = async (counts: readonly number[], oldestPendingAt: number | undefined) => {
        await catchUp?.();
        const stats = await store.stats();
        expect(stats.oldestPendingAt).toBe(oldestPendingAt);
        const [pending, processing, success, failed] = counts;
        if (stats.countByStatus) expect(stats.countByStatus).toStrictEqual({ pending, processing, success, failed });
      };
      await expectStats([0, 0, 0, 0], undefined);

      const [oldest, younger, youngest] = [10, 20, 30].map((age) => pendingRequest({ createdAt: START + age }));
      if (!oldest || !younger || !youngest) throw new Error('three were made');
      for (const record of [younger, youngest, oldest]) await store.create(record);
      await store.create(oldest);
      await expectStats([3, 0, 0, 0], START + 10);

      const claims = [claimOf(oldest), claimOf(younger)] as const;
      for (const claim of claims) await store.claim(claim);
      await store.claim(claimOf(oldest));
      await store.claim(claimOf(oldest, { leaseExpiredAt: START }));
      await expectStats([1, 2, 0, 0], START + 30);

      await store.report(reportOf(oldest, { relayer: claims[0].relayer }));
      const outcome = { status: 'failed', errorMessage: 'reverted' } as const;
      const failure = reportOf(younger, { relayer: claims[1].relayer, outcome });
      await store.report(failure);
      await store.report(failure);
      await expectStats([1, 0, 1, 1], START + 30);

      await store.claim(claimOf(youngest));
      await expectStats([0, 1, 1, 1], undefined);
    });

    // Shows STORE-11. DynamoDB has no disk to fill, and does not count.
    test('tell the bytes of what is pending by holder, through claim, release and report', async (context) => {
      const { store } = useOther();
      if (store.pendingBytes === undefined) return context.skip();
      const record = pendingRequest();
      const size = Buffer.byteLength(record.paramsJson) + RECORD_BYTES;
      const holders = [anyAddress(), anyAddress()];
      const [before = 0] = await store.pendingBytes(['']);
      const read = async () => {
        const [all = 0, ...held] = (await store.pendingBytes?.(['', ...holders, 'nobody'])) ?? [];
        return [all - before, ...held];
      };
      await store.create(record, { key: record.requestId, once: false, holders });
      await store.create(record, { key: record.requestId, once: false, holders });
      expect(await read()).toEqual([size, size, size, 0]);
      const claim = claimOf(record);
      await store.claim(claim);
      expect(await read()).toEqual([0, 0, 0, 0]);
      await store.release({ ...claim, releaseId: 'given back' });
      expect(await read()).toEqual([size, size, size, 0]);
      await store.claim(claimOf(record, { relayer: claim.relayer, now: START + 1500 }));
      await store.report(reportOf(record, { relayer: claim.relayer }));
      expect(await read()).toEqual([0, 0, 0, 0]);
    });
  });
}

/** Contract of `report`. */
export function describeReports(use: () => StoreUnderTest<RequestStore>): void {
  async function claimed(): Promise<{ readonly record: StoredRequest; readonly claim: Claim }> {
    const record = pendingRequest();
    await use().store.create(record);
    const claim = claimOf(record);
    await use().store.claim(claim);
    return { record: claimedRecord(record, claim), claim };
  }

  describe('report', () => {
    test('success keeps the transaction hash', async () => {
      const { store } = use();
      const { record, claim } = await claimed();
      const txHash = anyTxHash();
      const report = reportOf(record, { relayer: claim.relayer, outcome: { status: 'success', txHash } });
      const reported = { ...record, status: 'success', txHash, updatedAt: report.now };
      expect(await store.report(report)).toStrictEqual({ outcome: 'moved', record: reported });
      expect(await store.get(record.requestId)).toStrictEqual(reported);
    });

    test.each([
      ['plain', 'execution reverted: InsufficientBalance'],
      ['emoji', '😀👩‍👩‍👧‍👦 🏳️‍🌈'],
      ['a NUL character', 'before\u0000after'],
      ['only a NUL character', '\u0000'],
      ['quotes, line ends, separators', `"'\\\r\n\t\u2028\u2029`],
      ['a thousand characters of four bytes', '😀'.repeat(1000)],
      ['letters that combine', 'e\u0301 \u00e9 \u0000 ﬀ ß İ'],
    ])('failure keeps the message as it was given: %s', async (_, errorMessage) => {
      const { store } = use();
      const { record, claim } = await claimed();
      const report = reportOf(record, { relayer: claim.relayer, outcome: { status: 'failed', errorMessage } });
      const reported = { ...record, status: 'failed', errorMessage, updatedAt: report.now };
      expect(await store.report(report)).toStrictEqual({ outcome: 'moved', record: reported });
      expect(await store.get(record.requestId)).toStrictEqual(reported);
    });

    test('an unknown id is missing', async () => {
      const report = reportOf(pendingRequest(), { relayer: anyAddress() });
      expect(await use().store.report(report)).toStrictEqual({ outcome: 'missing' });
    });

    test('the owner is known without regard to letter case, and its name stays as it claimed', async () => {
      const { store } = use();
      const { record, claim } = await claimed();
      const relayer = `0x${claim.relayer.slice(2).toUpperCase()}`;
      expect(relayer).not.toBe(claim.relayer);
      const answer = await store.report(reportOf(record, { relayer }));
      expect(answer).toMatchObject({ outcome: 'moved', record: { status: 'success', claimedBy: claim.relayer } });
    });

    test('another relayer conflicts and changes nothing', async () => {
      const { store } = use();
      const { record } = await claimed();
      const answer = await store.report(reportOf(record, { relayer: anyAddress() }));
      expect(answer).toStrictEqual({ outcome: 'conflict', record });
      expect(await store.get(record.requestId)).toStrictEqual(record);
    });

    test('a pending request cannot be reported on', async () => {
      const { store } = use();
      const record = pendingRequest();
      await store.create(record);
      const answer = await store.report(reportOf(record, { relayer: anyAddress() }));
      expect(answer).toStrictEqual({ outcome: 'conflict', record });
    });

    test.each(['success', 'failed'] as const)('nothing moves out of %s', async (status) => {
      const { store } = use();
      const { record, claim } = await claimed();
      const outcome = status === 'success' ? { status, txHash: anyTxHash() } : { status, errorMessage: 'reverted' };
      const reported = await store.report(reportOf(record, { relayer: claim.relayer, outcome }));
      const standing = { ...reported, outcome: 'conflict' };
      const failed = { status: 'failed', errorMessage: 'too late' } as const;
      expect(await store.report(reportOf(record, { relayer: claim.relayer }))).toStrictEqual(standing);
      expect(await store.report(reportOf(record, { relayer: claim.relayer, outcome: failed }))).toStrictEqual(standing);
      expect(await store.claim(claimOf(record, { now: START + 9000 }))).toStrictEqual(standing);
      expect(await store.get(record.requestId)).toStrictEqual('record' in reported && reported.record);
    });

    test('what its relayer reported failed is reopened: pending, found by the feed, to be claimed, and to succeed', async () => {
      const { store, catchUp } = use();
      const { record, claim } = await claimed();
      const reopening = { ...record, relayer: claim.relayer, releaseId: 'reopen', now: START + 9000 };
      expect(await store.reopen(reopening)).toMatchObject({ outcome: 'conflict' });
      const outcome = { status: 'failed', errorMessage: 'a lie' } as const;
      await store.report(reportOf(record, { relayer: claim.relayer, outcome }));
      expect(await store.reopen({ ...reopening, relayer: anyAddress() })).toMatchObject({ outcome: 'conflict' });
      const pending = pendingRequest({ ...record, status: 'pending', updatedAt: START + 9000 });
      for (const field of ['claimedBy', 'claimedAt'] as const) Reflect.deleteProperty(pending, field);
      const moved = { outcome: 'moved', record: pending };
      expect(await store.reopen(reopening)).toStrictEqual(moved);
      expect(await store.reopen(reopening)).toStrictEqual(moved);
      expect(await store.get(record.requestId)).toStrictEqual(pending);
      await catchUp?.();
      const query = { chainName: record.chainName, from: 'oldest', limit: 10, ...ALL, now: START + 9000 } as const;
      expect((await store.feed(query)).items).toStrictEqual([pending]);
      const again = claimOf(record, { now: START + 10_000 });
      expect(await store.claim(again)).toMatchObject({ outcome: 'moved' });
      expect(await store.report(reportOf(record, { relayer: again.relayer }))).toMatchObject({ outcome: 'moved' });
    });

    test('a repetition of the call is answered as the first time', async () => {
      const { store } = use();
      const { record, claim } = await claimed();
      const report = reportOf(record, { relayer: claim.relayer });
      const first = await store.report(report);
      expect(first.outcome).toBe('moved');
      expect(await store.report(report)).toStrictEqual(first);
      expect(await store.report({ ...report, now: report.now + 1 })).toStrictEqual(first);
    });

    test('of the owner’s parallel reports one moves, and the record holds that one', async () => {
      const { store, openPeer } = use();
      const peer = (await openPeer?.()) ?? store;
      const { record, claim } = await claimed();
      const hashes = Array.from({ length: 20 }, anyTxHash);
      const answers = await Promise.all(
        hashes.map((txHash, i) =>
          (i % 2 === 0 ? store : peer).report(
            reportOf(record, { relayer: claim.relayer, outcome: { status: 'success', txHash } }),
          ),
        ),
      );
      const moved = hashes.filter((_, i) => answers[i]?.outcome === 'moved');
      expect(moved).toHaveLength(1);
      expect((await store.get(record.requestId))?.txHash).toBe(moved[0]);
    });
  });
}
