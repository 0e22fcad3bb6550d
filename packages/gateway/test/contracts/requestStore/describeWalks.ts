import { describe, expect, test } from 'vitest';
import type { RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import { anyAddress, anyChain, claimOf, pendingRequest, START } from '../storedRequests.ts';
import type { StoreUnderTest } from '../storeUnderTest.ts';
import { walkList } from '../walkList.ts';

const idsOf = (records: readonly StoredRequest[]) => records.map(({ requestId }) => requestId);

async function createMany(store: RequestStore, records: readonly StoredRequest[]): Promise<void> {
  await Promise.all(records.map((record) => store.create(record)));
}

/** Contract of `list`: positions. */
export function describeWalks(use: () => StoreUnderTest<RequestStore>): void {
  describe('walks from page to page', () => {
    test('records of one millisecond are told apart by their ids: none lost, none doubled', async () => {
      const { store, settle } = use();
      const signer = anyAddress();
      const records = Array.from({ length: 37 }, () => pendingRequest({ signer }));
      await createMany(store, records);
      await settle?.();
      const ids = idsOf(records).sort();
      for (const limit of [1, 2, 36, 37, 38]) {
        expect(idsOf(await walkList(store, { filter: { signer }, order: 'asc', limit }))).toStrictEqual(ids);
        expect(idsOf(await walkList(store, { filter: { signer }, order: 'desc', limit }))).toStrictEqual(
          ids.toReversed(),
        );
      }
    });

    test('a walk goes on where the record it stood at has left the list', async () => {
      const { store, settle } = use();
      const chainName = anyChain();
      const records = Array.from({ length: 12 }, (_, i) => pendingRequest({ chainName, createdAt: START + i }));
      await createMany(store, records);
      await settle?.();
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
      const { store, settle } = use();
      const signer = anyAddress();
      const records = Array.from({ length: 60 }, (_, i) => pendingRequest({ signer, createdAt: START + i * 10 }));
      await createMany(store, records);
      await settle?.();
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
      const { store, openPeer, settle } = use();
      const peer = (await openPeer?.()) ?? store;
      const signer = anyAddress();
      const records = Array.from({ length: 4 }, (_, i) => pendingRequest({ signer, createdAt: START + i }));
      await createMany(store, records);
      await settle?.();
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
