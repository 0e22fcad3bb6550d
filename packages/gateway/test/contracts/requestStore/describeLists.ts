import type { RequestStatus } from '@prism-gateway/protocol';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RequestFilter, RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import { anyAddress, anyChain, claimOf, pendingRequest, reportOf, START } from '../storedRequests.ts';
import type { CreateStore } from '../storeUnderTest.ts';
import { useStore } from '../useStore.ts';
import { walkList } from '../walkList.ts';

const statuses: readonly RequestStatus[] = ['pending', 'processing', 'success', 'failed'];

/** Records of each signer, chain and status. */
const PER_KIND = 3;

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

const matches = (record: StoredRequest, { signer, status, chainName }: RequestFilter) =>
  (signer === undefined || record.signer.toLowerCase() === signer.toLowerCase()) &&
  (status === undefined || record.status === status) &&
  (chainName === undefined || record.chainName === chainName);

function inQueueOrder(a: StoredRequest, b: StoredRequest): number {
  return a.createdAt - b.createdAt || (a.requestId < b.requestId ? -1 : 1);
}

/** Every filter of one, two and three conditions over the given signer and chain, and every status. */
function filtersOver(signer: string, chainName: string): RequestFilter[] {
  const withoutStatus = [{ signer }, { chainName }, { signer, chainName }];
  return [
    ...withoutStatus,
    ...statuses.flatMap((status) => [{ status }, ...withoutStatus.map((filter) => ({ ...filter, status }))]),
  ];
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
      const { store, settle } = use();
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
      await settle?.();
    });

    /** What the list holds of the records made here; by status alone it holds those of other tests too. */
    async function listOwn(filter: RequestFilter, order: 'asc' | 'desc', limit: number): Promise<StoredRequest[]> {
      const own = new Set(stored.map(({ requestId }) => requestId));
      const records = await walkList(use().store, { filter, order, limit });
      return records.filter(({ requestId }) => own.has(requestId));
    }

    for (const order of ['asc', 'desc'] as const) {
      for (const limit of [1, 5, 100]) {
        test(`each filter, alone and combined, gives what matches it, ${order} by createdAt and id, in pages of ${limit}`, async () => {
          for (const filter of filtersOver(signers[0] ?? '', chains[1] ?? '')) {
            const expected = stored.filter((record) => matches(record, filter));
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
        const { store, settle } = use();
        const signer = anyAddress();
        const sizes = [10, 400, 90, 2000, 3000, 10, 10, 10, 500, 1];
        const records = sizes.map((size, i) => {
          const paramsJson = JSON.stringify({ payload: `0x${'00'.repeat(size)}` });
          return pendingRequest({ signer, paramsJson, createdAt: START + i });
        });
        await Promise.all(records.map((record) => store.create(record)));
        await settle?.();
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

    test('letter case tells chains apart', async () => {
      const chainName = anyChain();
      await use().store.create(pendingRequest({ chainName }));
      await use().settle?.();
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
