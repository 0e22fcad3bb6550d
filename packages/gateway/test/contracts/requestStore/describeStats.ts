import { describe, expect, test } from 'vitest';
import type { RequestStore } from '../../../src/ports/requestStore.ts';
import { claimOf, pendingRequest, reportOf, START } from '../storedRequests.ts';
import type { CreateStore } from '../storeUnderTest.ts';
import { useStore } from '../useStore.ts';

/** Contract of `stats`; a store that cannot count cheaply gives no counts. */
export function describeStats(createStore: CreateStore<RequestStore>): void {
  describe('stats', () => {
    const use = useStore(createStore);

    test('follow every move, and name the oldest pending request', async () => {
      const { store, settle } = use();
      const expectStats = async (counts: readonly number[], oldestPendingAt: number | undefined) => {
        await settle?.();
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
  });
}
