import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { FeedQuery, RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import { ALL, anyAddress, anyChain, claimOf, pendingRequest, reportOf, START } from '../storedRequests.ts';
import type { CreateStore, StoreUnderTest } from '../storeUnderTest.ts';
import { useStore } from '../useStore.ts';

const RELAYER = anyAddress();

/** Most pages that a walk may take before it counts as one without an end. */
const MAX_PAGES = 200;

/** Contract of `feed` after an older copy of the store was put back. */
export function describeRestoredFeed(createStore: CreateStore<RequestStore>): void {
  const [use, useCopy] = [useStore(createStore), useStore(createStore)];
  // Shows FEED-3.
  test.each([1, 10])(
    'a position that the copy has not given is refused, or hides nothing of the %d that it stores then',
    async (count) => {
      const chainName = anyChain();
      const query = { chainName, from: 'oldest', limit: 100, now: START + 9000, ...ALL } as const;
      for (const { store } of [use(), use(), use()]) await store.create(pendingRequest({ chainName }));
      await use().catchUp?.();
      const { next: after } = await use().store.feed(query);
      const records = Array.from({ length: count }, (_, i) =>
        pendingRequest({ chainName, createdAt: START + 5000 + i }),
      );
      for (const record of records) await useCopy().store.create(record);
      await useCopy().catchUp?.();
      const read = useCopy().store.feed({ ...query, after });
      const { items } = await read.catch(({ code }) => {
        expect(code).toBe('INVALID_CURSOR');
        return { items: records };
      });
      expect(items).toEqual(expect.arrayContaining(records));
    },
  );
}

/** Contract of `feed`. */
export function describeFeed(use: () => StoreUnderTest<RequestStore>): void {
  async function created(count: number, fields: Partial<StoredRequest> = {}): Promise<StoredRequest[]> {
    const records: StoredRequest[] = [];
    for (let i = 0; i < count; i++) {
      const record = pendingRequest({ createdAt: START + i, ...fields });
      await use().store.create(record);
      records.push(record);
    }
    return records;
  }

  async function read(chainName: string, fields: Partial<FeedQuery> = {}) {
    await use().catchUp?.();
    return await use().store.feed({ chainName, from: 'oldest', limit: 100, now: START + 5000, ...ALL, ...fields });
  }

  /** Reads on from a position until a page is empty. @returns ids in the order in which they came, and where the walk has ended */
  async function walk(chainName: string, fields: Partial<FeedQuery> = {}): Promise<{ ids: string[]; next: string }> {
    const ids: string[] = [];
    let place = fields;
    for (let i = 0; i < MAX_PAGES; i++) {
      const { items, next } = await read(chainName, place);
      if (items.length === 0) return { ids, next };
      ids.push(...items.map(({ requestId }) => requestId));
      place = { ...fields, after: next };
    }
    throw new Error(`The feed has not ended after ${MAX_PAGES} pages.`);
  }

  const idsOf = (records: readonly StoredRequest[]) => records.map(({ requestId }) => requestId);
  const release = ({ requestId }: StoredRequest) =>
    use().store.release({ requestId, relayer: RELAYER, releaseId: crypto.randomUUID(), now: START + 6000 });

  // Shows FEED-1 and FEED-2.
  describe('feed', () => {
    test('gives what is pending in the chain, oldest first, page by page, and nothing of another chain', async () => {
      const chainName = anyChain();
      const records = await created(5, { chainName });
      await created(1);
      await use().store.claim(claimOf(records[1]!));
      const { items } = await read(chainName, { limit: 2 });
      expect(items).toStrictEqual([records[0], records[2]]);
      expect((await walk(chainName, { limit: 2 })).ids).toStrictEqual(idsOf([0, 2, 3, 4].map((i) => records[i]!)));
    });

    test('of a chain without requests is empty, and goes on from there', async () => {
      const chainName = anyChain();
      const { items, next } = await read(chainName);
      expect(items).toStrictEqual([]);
      const records = await created(2, { chainName });
      expect((await walk(chainName, { after: next })).ids).toStrictEqual(idsOf(records));
    });

    test('from now on gives only what becomes pending afterwards', async () => {
      const chainName = anyChain();
      const [old] = await created(3, { chainName, createdAt: START - 60_000 });
      await use().store.claim(claimOf(old!, { relayer: RELAYER }));
      const { items, next } = await read(chainName, { from: 'now' });
      expect(items).toStrictEqual([]);
      const records = await created(2, { chainName, createdAt: START + 5000 });
      expect(new Set((await walk(chainName, { after: next })).ids)).toStrictEqual(new Set(idsOf(records)));
      await release(old!);
      expect((await walk(chainName, { after: next })).ids).toContain(old!.requestId);
    });

    test('gives a released request again, behind the place where it was read before', async () => {
      const chainName = anyChain();
      const records = await created(2, { chainName });
      const { next } = await walk(chainName);
      await use().store.claim(claimOf(records[0]!, { relayer: RELAYER }));
      await release(records[0]!);
      expect((await walk(chainName, { after: next })).ids).toContain(records[0]!.requestId);
    });

    test('gives a claim that has lapsed, and none that holds or has been reported on', async () => {
      const chainName = anyChain();
      const records = await created(3, { chainName });
      const { next } = await walk(chainName, { leaseExpiredAt: START - 1 });
      const claims = [1000, 1500, 9000].map((ms, i) => claimOf(records[i]!, { relayer: RELAYER, now: START + ms }));
      for (const claim of claims) await use().store.claim(claim);
      await use().store.report(reportOf(records[1]!, { relayer: RELAYER }));
      const before = await walk(chainName, { after: next, now: START + 60_999, leaseExpiredAt: START + 999 });
      expect(before.ids).toStrictEqual([]);
      const lapsed = { now: START + 62_000, leaseExpiredAt: START + 2000 };
      const { ids } = await walk(chainName, { after: before.next, ...lapsed });
      expect(new Set(ids)).toStrictEqual(new Set([records[0]!.requestId]));
      expect((await walk(chainName, lapsed)).ids).toContain(records[0]!.requestId);
    });

    test('says when the next claim lapses, if it says so at all', async () => {
      const chainName = anyChain();
      const [record] = await created(1, { chainName });
      await use().store.claim(claimOf(record!, { now: START + 1000 }));
      const { nextClaimAt } = await read(chainName, { leaseExpiredAt: START });
      expect([undefined, START + 1000]).toContain(nextClaimAt);
    });

    test('ends a page at the bound of its params, of which the first record may be larger', async () => {
      const chainName = anyChain();
      const paramsJson = JSON.stringify({ payload: `0x${'ab'.repeat(600)}` });
      const records = await created(5, { chainName, paramsJson });
      const two = paramsJson.length * 2;
      expect((await read(chainName, { maxParamsBytes: two })).items).toHaveLength(2);
      expect((await read(chainName, { maxParamsBytes: 1 })).items).toHaveLength(1);
      expect(new Set((await walk(chainName, { maxParamsBytes: two })).ids)).toStrictEqual(new Set(idsOf(records)));
    });

    test('skips nothing that two processes store while it is read', async () => {
      const { store, openPeer } = use();
      const peer = (await openPeer?.()) ?? store;
      const chainName = anyChain();
      const records = Array.from({ length: 60 }, (_, i) => pendingRequest({ chainName, createdAt: START + (i % 3) }));
      let writing = true;
      const written = Promise.all(records.map((record, i) => (i % 2 === 0 ? store : peer).create(record))).then(() => {
        writing = false;
      });
      const seen = new Set<string>();
      let after: string | undefined;
      const readOn = async () => {
        // Others have their turn even where a read is answered at once.
        await nextTurn();
        const query = { chainName, from: 'oldest', limit: 7, now: START + 10, ...ALL } as const;
        const page = await store.feed({ ...query, ...(after !== undefined && { after }) });
        for (const { requestId } of page.items) seen.add(requestId);
        after = page.next;
        return page.items.length;
      };
      while (writing) await readOn();
      await written;
      await use().catchUp?.();
      for (let i = 0; i < MAX_PAGES && (await readOn()) > 0; i++);
      expect(seen).toStrictEqual(new Set(idsOf(records)));
    });

    test.each(['', 'x', '1', '1-x', '-1-2', `${'9'.repeat(40)}-1`])(
      'refuses a position that it did not make: %j',
      async (after) => {
        await expect(read(anyChain(), { after })).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
      },
    );
  });
}
