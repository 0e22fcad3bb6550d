import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Creation, RequestStore, StoredRequest, Submission } from '../../../src/ports/requestStore.ts';
import { submissionKeyOf } from '../../../src/rules/submissionKey.ts';
import { anyAddress, anyChain, claimedRecord, claimOf, pendingRequest, reportOf } from '../storedRequests.ts';
import type { StoreUnderTest } from '../storeUnderTest.ts';
import { walkList } from '../walkList.ts';

/** Posts of one signature at the same time. */
const RIVALS = 8;

const anyHalf = () => `0x${randomBytes(32).toString('hex')}`;

/** A signed request, and the key of its submission. */
function signedRequest(fields: Partial<StoredRequest> = {}): { record: StoredRequest; key: string } {
  const unsigned = pendingRequest(fields);
  const params = {
    cloudId: '0x01',
    timestamp: '1767225600',
    signer: unsigned.signer,
    v: 27,
    r: anyHalf(),
    s: anyHalf(),
  };
  const record = { ...unsigned, paramsJson: JSON.stringify(params) };
  return { record, key: submissionKeyOf({ ...record, params }) };
}

const once = (key: string): Submission => ({ key, once: true });
const plain = (key: string): Submission => ({ key, once: false });

/** Contract of `create` with a signature that is taken once. */
export function describeOnce(use: () => StoreUnderTest<RequestStore>): void {
  const copyOf = (record: StoredRequest) => ({ ...record, requestId: crypto.randomUUID() });

  // Shows ONCE-1.
  describe('a signature that is taken once', () => {
    test('is stored the first time, and answered with the record as it stands afterwards', async () => {
      const { store } = use();
      const { record, key } = signedRequest();
      expect(await store.create(record, once(key))).toStrictEqual({ outcome: 'created' });
      const copy = copyOf(record);
      expect(await store.create(copy, once(key))).toStrictEqual({ outcome: 'exists', record });
      const claim = claimOf(record);
      await store.claim(claim);
      const claimed = claimedRecord(record, claim);
      expect(await store.create(copy, once(key))).toStrictEqual({ outcome: 'exists', record: claimed });
      expect(await store.get(copy.requestId)).toBeUndefined();
    });

    test('is found where it was stored without being asked to be taken once', async () => {
      const { store } = use();
      const { record, key } = signedRequest();
      expect(await store.create(record, plain(key))).toStrictEqual({ outcome: 'created' });
      expect(await store.create(copyOf(record), once(key))).toStrictEqual({ outcome: 'exists', record });
    });

    test('is stored again by whoever does not ask for that', async () => {
      const { store } = use();
      const { record, key } = signedRequest();
      await store.create(record, once(key));
      const copy = copyOf(record);
      expect(await store.create(copy, plain(key))).toStrictEqual({ outcome: 'created' });
      expect(await store.get(copy.requestId)).toStrictEqual(copy);
    });

    test('is answered as the first time when the same record is stored again', async () => {
      const { store } = use();
      const { record, key } = signedRequest();
      for (let i = 0; i < 2; i++) {
        expect(await store.create(record, once(key))).toStrictEqual({ outcome: 'created' });
      }
      const { items } = await store.list({ filter: { signer: record.signer }, order: 'asc', limit: 10 });
      expect(items).toStrictEqual([record]);
    });

    test('differs from others of the same signer, of another chain, and of other params under the same signature', async () => {
      const { store } = use();
      const { record, key } = signedRequest();
      await store.create(record, once(key));
      const other = signedRequest({ signer: record.signer, chainName: record.chainName });
      expect(await store.create(other.record, once(other.key))).toMatchObject({ outcome: 'created' });
      const params = JSON.parse(record.paramsJson);
      for (const change of [{ chainName: 'eip155:another' }, { params: { ...params, cloudId: '0x02' } }]) {
        const changed = { ...record, params, ...change };
        const paramsJson = JSON.stringify(changed.params);
        const copy = { ...copyOf(record), chainName: changed.chainName, paramsJson };
        expect(await store.create(copy, once(submissionKeyOf(changed)))).toMatchObject({ outcome: 'created' });
      }
    });

    test('is taken anew once its record has failed', async () => {
      const { store } = use();
      const { record, key } = signedRequest();
      await store.create(record, once(key));
      const claim = claimOf(record);
      await store.claim(claim);
      const outcome = { status: 'failed', errorMessage: 'no' } as const;
      await store.report(reportOf(record, { relayer: claim.relayer, outcome }));
      const again = copyOf(record);
      expect(await store.create(again, once(key))).toStrictEqual({ outcome: 'created' });
      expect(await store.create(copyOf(record), once(key))).toStrictEqual({ outcome: 'exists', record: again });
    });

    test('of many posts at the same time, from two processes, is stored by one of them', async () => {
      const { store, openPeer } = use();
      const peer = (await openPeer?.()) ?? store;
      const { record, key } = signedRequest();
      const answers = await Promise.all(
        Array.from({ length: RIVALS }, async (_, i): Promise<[string, Creation]> => {
          const own = copyOf(record);
          return [own.requestId, await (i % 2 === 0 ? store : peer).create(own, once(key))];
        }),
      );
      const stored = answers.filter(([, { outcome }]) => outcome === 'created').map(([requestId]) => requestId);
      const reported = answers.flatMap(([, answer]) => (answer.outcome === 'exists' ? [answer.record.requestId] : []));
      expect(stored).toHaveLength(1);
      expect(new Set(reported)).toStrictEqual(new Set(stored));
    });
  });
}

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
      const { store, catchUp } = use();
      const chainName = anyChain();
      const { requestId } = pendingRequest();
      const rivals = Array.from({ length: 20 }, () => pendingRequest({ requestId, chainName, signer: anyAddress() }));
      await Promise.all(rivals.map((record) => store.create(record)));
      const kept = await store.get(requestId);
      expect(rivals).toContainEqual(kept);
      await catchUp?.();
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
