import type { RequestStatus } from '@prism-gateway/protocol';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RequestFilter, RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import {
  anyAddress,
  anyChain,
  anyTxHash,
  claimOf,
  isListed,
  pendingRequest,
  reportOf,
  START,
  subsetsOf,
} from '../storedRequests.ts';
import type { CreateStore, StoreUnderTest } from '../storeUnderTest.ts';
import { useStore } from '../useStore.ts';
import { walkList } from '../walkList.ts';

const idsOf = (records: readonly StoredRequest[]) => records.map(({ requestId }) => requestId);

async function createMany(store: RequestStore, records: readonly StoredRequest[]): Promise<void> {
  await Promise.all(records.map((record) => store.create(record)));
}

/** Contract of `list`: positions. */
export function describeWalks(use: () => StoreUnderTest<RequestStore>): void {
  describe('walks from page to page', () => {
    test('records of one millisecond are told apart by their ids: none lost, none doubled', async () => {
      const { store, catchUp } = use();
      const signer = anyAddress();
      const records = Array.from({ length: 37 }, () => pendingRequest({ signer }));
      await createMany(store, records);
      await catchUp?.();
      const ids = idsOf(records).sort();
      for (const limit of [1, 2, 36, 37, 38]) {
        expect(idsOf(await walkList(store, { filter: { signer }, order: 'asc', limit }))).toStrictEqual(ids);
        expect(idsOf(await walkList(store, { filter: { signer }, order: 'desc', limit }))).toStrictEqual(
          ids.toReversed(),
        );
      }
    });

    test('a range of time, of any filter or none, in both directions, across its pages', async () => {
      const { store, catchUp } = use();
      const [signer, chainName] = [anyAddress(), anyChain()];
      // A day that no other test stores anything on.
      const noon = START + 86_400_000 * (1000 + Math.floor(Math.random() * 100_000));
      const records = Array.from({ length: 12 }, (_, i) => pendingRequest({ signer, chainName, createdAt: noon + i }));
      await createMany(store, records);
      for (const record of records.slice(3, 6)) await store.claim(claimOf(record));
      await catchUp?.();
      const ids = idsOf(records).slice(2, 9);
      const filters = [{}, { chainName }, { signer }, { signer, chainName }];
      for (const filter of filters) {
        for (const limit of [2, 7, 50]) {
          const range = { filter, limit, from: noon + 2, to: noon + 9 };
          expect(idsOf(await walkList(store, { ...range, order: 'asc' }))).toStrictEqual(ids);
          expect(idsOf(await walkList(store, { ...range, order: 'desc' }))).toStrictEqual(ids.toReversed());
        }
      }
      const pending = { filter: { status: 'pending', chainName }, from: noon + 2, to: noon + 9, limit: 3 } as const;
      const left = ids.filter((id) => !idsOf(records.slice(3, 6)).includes(id));
      expect(idsOf(await walkList(store, { ...pending, order: 'desc' }))).toStrictEqual(left.toReversed());
      expect(await walkList(store, { filter: {}, order: 'asc', limit: 5, from: noon + 20, to: noon + 30 })).toEqual([]);
    });

    test('a walk goes on where the record it stood at has left the list', async () => {
      const { store, catchUp } = use();
      const chainName = anyChain();
      const records = Array.from({ length: 12 }, (_, i) => pendingRequest({ chainName, createdAt: START + i }));
      await createMany(store, records);
      await catchUp?.();
      const seen: string[] = [];
      let after: string | null | undefined;
      while (after !== null) {
        const page = await store.list({
          filter: { status: 'pending', chainName },
          order: 'asc',
          limit: 1,
          ...(after !== undefined && { after }),
        });
        for (const record of page.items) {
          seen.push(record.requestId);
          await store.claim(claimOf(record));
        }
        after = page.next;
      }
      expect(seen).toStrictEqual(idsOf(records));
    });

    test('a walk loses and doubles nothing while others write before and behind it', async () => {
      const { store, catchUp } = use();
      const signer = anyAddress();
      const records = Array.from({ length: 60 }, (_, i) => pendingRequest({ signer, createdAt: START + i * 10 }));
      await createMany(store, records);
      await catchUp?.();
      let walking = true;
      async function write(): Promise<void> {
        for (let i = 0; walking; i++) {
          await store.create(pendingRequest({ signer, createdAt: START + ((i * 7) % 600) + 1 }));
          await store.claim(claimOf(records[(i * 13) % records.length] ?? pendingRequest()));
        }
      }
      const writing = write();
      const walked = await walkList(store, { filter: { signer }, order: 'asc', limit: 3 });
      walking = false;
      await writing;
      const known = new Set(idsOf(records));
      expect(idsOf(walked).filter((id) => known.has(id))).toStrictEqual(idsOf(records));
      expect(new Set(idsOf(walked)).size).toBe(walked.length);
    });

    test('another process goes on with the position of this one', async () => {
      const { store, openPeer, catchUp } = use();
      const peer = (await openPeer?.()) ?? store;
      const signer = anyAddress();
      const records = Array.from({ length: 4 }, (_, i) => pendingRequest({ signer, createdAt: START + i }));
      await createMany(store, records);
      await catchUp?.();
      const query = { filter: { signer }, order: 'asc', limit: 2 } as const;
      const first = await store.list(query);
      expect(first.next).not.toBeNull();
      const second = await peer.list({ ...query, after: first.next ?? '' });
      expect(idsOf([...first.items, ...second.items])).toStrictEqual(idsOf(records));
    });

    test.each([
      ['an empty text', ''],
      ['a word', 'nonsense'],
      ['a number alone', '1800000000000'],
      ['numbers of no meaning', '0:0'],
      ['an id that is none', `${START}:not-a-uuid`],
      ['a time that is none', `soon:${pendingRequest().requestId}`],
      ['JSON of another shape', '{"requestId":1}'],
      ['something long', 'x'.repeat(5000)],
      ['a NUL character', '\u0000'],
    ])('a position that the store did not make is refused: %s', async (_, after) => {
      const listing = use().store.list({ filter: { signer: anyAddress() }, order: 'asc', limit: 20, after });
      await expect(listing).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
    });
  });
}

const statuses: readonly RequestStatus[] = ['pending', 'processing', 'success', 'failed'];

/** Records of each signer, chain and status. */
const PER_KIND = 2;

/** Creates a record and moves it to a status. */
async function storeAs(store: RequestStore, record: StoredRequest, status: RequestStatus): Promise<StoredRequest> {
  await store.create(record);
  if (status === 'pending') return record;
  const claim = claimOf(record);
  let transition = await store.claim(claim);
  if (status === 'failed') {
    const outcome = { status, errorMessage: 'reverted' } as const;
    transition = await store.report(reportOf(record, { relayer: claim.relayer, outcome }));
  } else if (status === 'success') {
    transition = await store.report(reportOf(record, { relayer: claim.relayer }));
  }
  if (transition.outcome !== 'moved') throw new Error(`${transition.outcome} where the only relayer asked`);
  return transition.record;
}

function inQueueOrder(a: StoredRequest, b: StoredRequest): number {
  return a.createdAt - b.createdAt || (a.requestId < b.requestId ? -1 : 1);
}

/** Contract of `list`: filters, order, limit. */
export function describeLists(createStore: CreateStore<RequestStore>): void {
  describe('list', () => {
    // Of their own: a list by status alone holds everybody's requests, and is walked one by one.
    const use = useStore(createStore);
    const signers = [anyAddress(), anyAddress()];
    const chains = [anyChain(), anyChain()];
    const stored: StoredRequest[] = [];

    beforeAll(async () => {
      const { store, catchUp } = use();
      const kinds = signers.flatMap((signer) =>
        chains.flatMap((chainName) => statuses.map((status) => ({ signer, chainName, status }))),
      );
      const making = kinds.flatMap(({ status, ...fields }, kind) =>
        Array.from({ length: PER_KIND }, (_, i) => {
          // Times go against the order of creation, and every second one is shared by several records.
          const createdAt = START - (kind * PER_KIND + i) * 10 * (i % 2);
          return storeAs(store, pendingRequest({ ...fields, createdAt }), status);
        }),
      );
      stored.push(...(await Promise.all(making)));
      stored.sort(inQueueOrder);
      await catchUp?.();
    });

    /** The list's records that were made here; by status alone it holds those of other tests, too. */
    async function listOwn(filter: RequestFilter, order: 'asc' | 'desc', limit: number): Promise<StoredRequest[]> {
      const own = new Set(stored.map(({ requestId }) => requestId));
      const records = await walkList(use().store, { filter, order, limit });
      return records.filter(({ requestId }) => own.has(requestId));
    }

    for (const order of ['asc', 'desc'] as const) {
      for (const limit of [1, 5, 100]) {
        test(`each filter, alone and combined, gives what matches it, ${order} by createdAt and id, in pages of ${limit}`, async () => {
          const [signer = '', chainName = ''] = [signers[0], chains[1]];
          const all = statuses.flatMap((status) => subsetsOf({ signer, chainName, status }));
          for (const filter of new Map(all.map((one) => [JSON.stringify(one), one])).values()) {
            const expected = stored.filter((record) => isListed(record, filter));
            if (order === 'desc') expected.reverse();
            expect({ filter, records: await listOwn(filter, order, limit) }).toStrictEqual({
              filter,
              records: expected,
            });
          }
        });
      }
    }

    test.each(['asc', 'desc'] as const)(
      'pages end where their params get too large, %s, and lead on',
      async (order) => {
        const { store, catchUp } = use();
        const signer = anyAddress();
        const sizes = [10, 400, 90, 2000, 3000, 10, 10, 10, 500, 1];
        const records = sizes.map((size, i) => {
          const paramsJson = JSON.stringify({ payload: `0x${'00'.repeat(size)}` });
          return pendingRequest({ signer, paramsJson, createdAt: START + i });
        });
        await Promise.all(records.map((record) => store.create(record)));
        await catchUp?.();
        const pages: number[][] = [];
        for (let after: string | null | undefined; after !== null; ) {
          const query = { filter: { signer }, order, limit: 4, maxParamsBytes: 1100 };
          const page = await store.list({ ...query, ...(after !== undefined && { after }) });
          pages.push(page.items.map(({ createdAt }) => sizes[createdAt - START] ?? 0));
          after = page.next;
        }
        const expected = {
          asc: [[10, 400, 90], [2000], [3000], [10, 10, 10], [500, 1]],
          desc: [[1, 500, 10], [10, 10], [3000], [2000], [90, 400, 10]],
        };
        expect(pages).toEqual(expected[order]);
      },
    );

    test('letter case does not tell signers apart', async () => {
      const [signer = ''] = signers;
      for (const given of [signer.toLowerCase(), `0x${signer.slice(2).toUpperCase()}`]) {
        const records = await listOwn({ signer: given }, 'asc', 100);
        expect(records.map((record) => record.signer)).toStrictEqual(records.map(() => signer));
        expect(records).toHaveLength(stored.length / signers.length);
      }
    });

    describe('by transaction', () => {
      /** Stores a request and reports it with this transaction. */
      async function storeDone(fields: Partial<StoredRequest>, txHash: string): Promise<StoredRequest> {
        const { store } = use();
        const record = pendingRequest(fields);
        await store.create(record);
        const claim = claimOf(record);
        await store.claim(claim);
        const outcome = { status: 'success', txHash } as const;
        const done = await store.report(reportOf(record, { relayer: claim.relayer, outcome }));
        if (done.outcome !== 'moved') throw new Error(`${done.outcome} where the only relayer asked`);
        return done.record;
      }

      // Shows ADMIN-4.
      test('all that it carried out is found, in any letter case, by itself and with each other filter', async () => {
        const txHash = anyTxHash();
        // As far as any store's index tells them apart, the same one.
        const alike = `${txHash.slice(0, 40)}${anyTxHash().slice(40)}`;
        const [signer, chainName] = [anyAddress(), anyChain()];
        const first = await storeDone({ signer, createdAt: START + 2 }, txHash);
        const second = await storeDone({ chainName, createdAt: START + 1 }, txHash.toUpperCase().replace('0X', '0x'));
        const third = await storeDone({ signer, chainName, createdAt: START + 1 }, txHash);
        const other = await storeDone({ signer, chainName, createdAt: START }, alike);
        await use().catchUp?.();
        const find = (filter: RequestFilter, order: 'asc' | 'desc' = 'asc') =>
          walkList(use().store, { filter, order, limit: 2 });
        const all = [first, second, third].sort(inQueueOrder);
        for (const given of [txHash, txHash.toUpperCase().replace('0X', '0x')]) {
          expect(await find({ txHash: given })).toStrictEqual(all);
          expect(await find({ txHash: given }, 'desc')).toStrictEqual(all.toReversed());
        }
        expect(await find({ txHash: alike })).toStrictEqual([other]);
        expect(await find({ txHash, signer })).toStrictEqual(all.filter((record) => record.signer === signer));
        expect(await find({ txHash, chainName })).toStrictEqual(all.filter((record) => record.chainName === chainName));
        expect(await find({ txHash, signer, chainName, status: 'success' })).toStrictEqual([third]);
        for (const filter of [{ status: 'failed' }, { signer: anyAddress() }] as const)
          expect(await find({ txHash, ...filter })).toEqual([]);
        expect(await find({ txHash: anyTxHash() })).toEqual([]);
      });

      test('one that was given back before is found by it, and is in the feed of its chain no more', async () => {
        const { store, catchUp } = use();
        const [txHash, record] = [anyTxHash(), pendingRequest({ chainName: anyChain() })];
        await store.create(record);
        const claim = claimOf(record);
        await store.claim(claim);
        const { requestId, chainName } = record;
        await store.release({ requestId, relayer: claim.relayer, releaseId: 'any', now: START + 1500 });
        await store.claim(claimOf(record, { relayer: claim.relayer }));
        await store.report(reportOf(record, { relayer: claim.relayer, outcome: { status: 'success', txHash } }));
        await catchUp?.();
        const found = await walkList(store, { filter: { txHash }, order: 'asc', limit: 5 });
        expect(found).toMatchObject([{ requestId, status: 'success', txHash }]);
        const feed = { chainName, from: 'oldest', limit: 10, now: START + 9000, maxParamsBytes: 1_000_000 } as const;
        expect((await store.feed(feed)).items).toEqual([]);
      });
    });

    test('letter case tells chains apart', async () => {
      const chainName = anyChain();
      await use().store.create(pendingRequest({ chainName }));
      await use().catchUp?.();
      expect(
        await walkList(use().store, { filter: { chainName: chainName.toUpperCase() }, order: 'asc', limit: 5 }),
      ).toEqual([]);
    });

    test('a list without a match is one empty page, and the last', async () => {
      const page = await use().store.list({ filter: { signer: anyAddress() }, order: 'asc', limit: 20 });
      expect(page).toStrictEqual({ items: [], next: null });
    });

    test('a page of pending records shows none that is known to be claimed, however the list lags', async () => {
      const { store } = use();
      const chainName = anyChain();
      const records = Array.from({ length: 10 }, () => pendingRequest({ chainName }));
      await Promise.all(records.map((record) => store.create(record)));
      for (const record of records) {
        await store.claim(claimOf(record));
        const seen = await walkList(store, { filter: { status: 'pending', chainName }, order: 'asc', limit: 3 });
        expect(seen.map(({ requestId }) => requestId)).not.toContain(record.requestId);
        expect(seen.filter(({ status }) => status !== 'pending')).toEqual([]);
      }
    });
  });
}
