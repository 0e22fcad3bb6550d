import { describe, expect, test } from 'vitest';
import type { RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import { ALL, anyAddress, anyChain, claimOf, pendingRequest, reportOf, START } from '../storedRequests.ts';
import type { StoreUnderTest } from '../storeUnderTest.ts';

const lapse = { now: START + 61_000, leaseExpiredAt: START + 1000 };

/** Contract of the bound on what one relayer holds, and of `releaseAll`. */
export function describeOpenClaims(use: () => StoreUnderTest<RequestStore>): void {
  async function created(count: number, fields: Partial<StoredRequest> = {}): Promise<StoredRequest[]> {
    const records = Array.from({ length: count }, (_, i) => pendingRequest({ createdAt: START + i, ...fields }));
    await Promise.all(records.map((record) => use().store.create(record)));
    return records;
  }

  /** A relayer that holds as many as it may. */
  async function fullRelayer(count: number): Promise<{ relayer: string; held: StoredRequest[] }> {
    const relayer = anyAddress();
    const held = await created(count);
    for (const record of held) await use().store.claim(claimOf(record, { relayer, maxOpenClaims: count }));
    return { relayer, held };
  }

  // Shows CLAIM-5.
  describe('a relayer that holds as many requests as it may', () => {
    test('is refused another one, in whatever letter case, until one of its own is reported on or released', async () => {
      const { store } = use();
      const { relayer, held } = await fullRelayer(2);
      const [next, last] = await created(2);
      const claim = (record: StoredRequest, by = relayer) =>
        store.claim(claimOf(record, { relayer: by, maxOpenClaims: 2 }));
      const otherCase = `0x${relayer.slice(2).toLowerCase()}`;
      expect(await claim(next!, otherCase)).toStrictEqual({ outcome: 'full', record: next });
      await store.report(reportOf(held[0]!, { relayer }));
      expect(await claim(next!)).toMatchObject({ outcome: 'moved' });
      expect(await claim(last!)).toMatchObject({ outcome: 'full' });
      await store.release({ requestId: held[1]!.requestId, relayer, releaseId: crypto.randomUUID(), now: START });
      expect(await claim(last!)).toMatchObject({ outcome: 'moved' });
    });

    test('is told of what was not to be had as anyone is', async () => {
      const { store } = use();
      const { relayer } = await fullRelayer(1);
      const [others] = await created(1);
      await store.claim(claimOf(others!));
      const bound = { relayer, maxOpenClaims: 1 };
      expect(await store.claim(claimOf(others!, bound))).toMatchObject({ outcome: 'conflict' });
      expect(await store.claim(claimOf(pendingRequest(), bound))).toStrictEqual({ outcome: 'missing' });
    });

    test('keeps what it holds by renewals, and takes its own lapsed claims over', async () => {
      const { store } = use();
      const { relayer, held } = await fullRelayer(1);
      const renewal = claimOf(held[0]!, { relayer, maxOpenClaims: 1, now: START + 2000 });
      expect((await store.claimAll([renewal], ALL))[0]).toMatchObject({ outcome: 'moved' });
      const late = { now: START + 99_000, leaseExpiredAt: START + 9000, ownLeaseExpiredAt: START + 8000 };
      const again = claimOf(held[0]!, { relayer, maxOpenClaims: 1, ...late });
      expect(await store.claim(again)).toMatchObject({ outcome: 'moved' });
    });

    test('is refused the lapsed claim of another, whose place is free once it has lost it', async () => {
      const { store } = use();
      const [one, two] = [await fullRelayer(1), await fullRelayer(1)];
      const take = claimOf(two.held[0]!, { relayer: one.relayer, maxOpenClaims: 1, ...lapse });
      expect(await store.claim(take)).toMatchObject({ outcome: 'full' });
      expect(await store.claim(claimOf(two.held[0]!, lapse))).toMatchObject({ outcome: 'moved' });
      const [next] = await created(1);
      const freed = claimOf(next!, { relayer: two.relayer, maxOpenClaims: 1 });
      expect(await store.claim(freed)).toMatchObject({ outcome: 'moved' });
    });

    test('gets of a batch what it has room for, and leaves the rest as it stands', async () => {
      const { store } = use();
      const { relayer } = await fullRelayer(1);
      const records = await created(3);
      const claims = records.map((record) => claimOf(record, { relayer, maxOpenClaims: 3 }));
      const answers = await store.claimAll(claims, ALL);
      expect(answers.map(({ outcome }) => outcome).sort()).toStrictEqual(['conflict', 'moved', 'moved']);
      expect(answers).toContainEqual({ outcome: 'conflict', status: 'pending' });
    });

    test('gets of the oldest what it has room for', async () => {
      const { store } = use();
      const { relayer } = await fullRelayer(1);
      const chainName = anyChain();
      await created(3, { chainName });
      const oldest = { chainName, limit: 3, relayer, claimId: crypto.randomUUID(), now: START + 1, ...ALL };
      expect(await store.claimOldest({ ...oldest, maxOpenClaims: 3 })).toHaveLength(2);
      expect(await store.claimOldest({ ...oldest, maxOpenClaims: 3, claimId: crypto.randomUUID() })).toHaveLength(0);
    });
  });

  describe('releaseAll', () => {
    test('gives back all that the relayer holds and nothing else, up to a limit', async () => {
      const { store, settle } = use();
      const [mine, others] = [await fullRelayer(5), await fullRelayer(1)];
      await store.report(reportOf(mine.held[0]!, { relayer: mine.relayer }));
      await settle?.();
      const release = { relayer: `0x${mine.relayer.slice(2).toLowerCase()}`, now: START + 9000 };
      expect(await store.releaseAll({ ...release, limit: 3 })).toBe(3);
      await settle?.();
      expect(await store.releaseAll({ ...release, limit: 3 })).toBe(1);
      for (const record of mine.held.slice(1)) {
        expect(await store.get(record.requestId)).toStrictEqual({ ...record, updatedAt: START + 9000 });
      }
      expect(await store.get(mine.held[0]!.requestId)).toMatchObject({ status: 'success' });
      expect(await store.get(others.held[0]!.requestId)).toMatchObject({ status: 'processing' });
    });
  });
}
