import { describe, expect, test } from 'vitest';
import type { RequestStore } from '../../../src/ports/requestStore.ts';
import { anyAddress, anyChain, claimedRecord, claimOf, pendingRequest } from '../storedRequests.ts';
import type { StoreUnderTest } from '../storeUnderTest.ts';
import { walkList } from '../walkList.ts';

/** Bytes of payload that make params as large as a body may be. */
const LARGE_PAYLOAD_BYTES = 100_000;

/** Contract of `create` and `get`. */
export function describeCreation(use: () => StoreUnderTest<RequestStore>): void {
  describe('create and get', () => {
    test('a created record is read back as it was given, field by field', async () => {
      const { store } = use();
      const record = pendingRequest({ createdAt: 1_800_000_000_001, updatedAt: 1_800_000_000_001 });
      await store.create(record);
      expect(await store.get(record.requestId)).toStrictEqual(record);
    });

    test('an unknown id is undefined', async () => {
      expect(await use().store.get(pendingRequest().requestId)).toBeUndefined();
    });

    test('an id is found in any letter case', async () => {
      const { store } = use();
      const record = pendingRequest({ requestId: '0197c2a4-5b1e-7c3d-8f60-abcdefabcdef' });
      await store.create(record);
      expect(await store.get(record.requestId.toUpperCase())).toStrictEqual(record);
    });

    test('params of 200 kB come back byte for byte', async () => {
      const { store } = use();
      const paramsJson = JSON.stringify({ payload: `0x${'5a'.repeat(LARGE_PAYLOAD_BYTES)}` });
      const record = pendingRequest({ paramsJson });
      await store.create(record);
      expect((await store.get(record.requestId))?.paramsJson === paramsJson).toBe(true);
    });

    test('params of any text come back: emoji, escapes, quotes', async () => {
      const { store } = use();
      const record = pendingRequest({
        paramsJson: JSON.stringify({ text: `😀 "\\ \u0000 \u2028 '; DROP TABLE x; --` }),
      });
      await store.create(record);
      expect(await store.get(record.requestId)).toStrictEqual(record);
    });

    test('the earliest and the latest time of ISO 8601 are kept to the millisecond', async () => {
      const { store } = use();
      for (const createdAt of [0, 1, 253_402_300_799_999]) {
        const record = pendingRequest({ createdAt });
        await store.create(record);
        expect(await store.get(record.requestId)).toStrictEqual(record);
      }
    });

    test('creating an id again changes nothing, whatever the second record holds', async () => {
      const { store } = use();
      const first = pendingRequest();
      await store.create(first);
      await store.create(pendingRequest({ requestId: first.requestId, createdAt: 1 }));
      expect(await store.get(first.requestId)).toStrictEqual(first);
    });

    test('creating an id again does not undo its claim', async () => {
      const { store } = use();
      const record = pendingRequest();
      await store.create(record);
      const claim = claimOf(record);
      await store.claim(claim);
      await store.create(record);
      expect(await store.get(record.requestId)).toStrictEqual(claimedRecord(record, claim));
    });

    test('of parallel creations of one id one is kept, and it is listed once', async () => {
      const { store, settle } = use();
      const chainName = anyChain();
      const { requestId } = pendingRequest();
      const rivals = Array.from({ length: 20 }, () => pendingRequest({ requestId, chainName, signer: anyAddress() }));
      await Promise.all(rivals.map((record) => store.create(record)));
      const kept = await store.get(requestId);
      expect(rivals).toContainEqual(kept);
      await settle?.();
      expect(await walkList(store, { filter: { chainName }, order: 'asc', limit: 100 })).toStrictEqual([kept]);
    });

    test('another process reads a record as soon as its creation has resolved', async () => {
      const { store, openPeer } = use();
      const peer = (await openPeer?.()) ?? store;
      const record = pendingRequest();
      await store.create(record);
      expect(await peer.get(record.requestId)).toStrictEqual(record);
    });
  });
}
