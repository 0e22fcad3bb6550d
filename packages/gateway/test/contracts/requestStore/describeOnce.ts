import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Creation, RequestStore, StoredRequest, Submission } from '../../../src/ports/requestStore.ts';
import { createSignatureKey } from '../../../src/ports/signatureKey.ts';
import { claimedRecord, claimOf, pendingRequest } from '../storedRequests.ts';
import type { StoreUnderTest } from '../storeUnderTest.ts';

/** Posts of one signature at the same time. */
const RIVALS = 8;

const anyHalf = () => `0x${randomBytes(32).toString('hex')}`;

/** A signed request, and the key of its signature. */
function signedRequest(fields: Partial<StoredRequest> = {}): { record: StoredRequest; signatureKey: string } {
  const [r, s] = [anyHalf(), anyHalf()];
  const unsigned = pendingRequest(fields);
  const { chainName, signer } = unsigned;
  const record = { ...unsigned, paramsJson: JSON.stringify({ cloudId: '0x01', signer, v: 27, r, s }) };
  return { record, signatureKey: createSignatureKey({ chainName, signer, r, s }) };
}

const once = (signatureKey: string): Submission => ({ signatureKey, once: true });
const plain = (signatureKey: string): Submission => ({ signatureKey, once: false });

/** Contract of `create` with a signature that is taken once. */
export function describeOnce(use: () => StoreUnderTest<RequestStore>): void {
  const copyOf = (record: StoredRequest) => ({ ...record, requestId: crypto.randomUUID() });

  // Shows ONCE-1.
  describe('a signature that is taken once', () => {
    test('is stored the first time, and answered with the record as it stands afterwards', async () => {
      const { store } = use();
      const { record, signatureKey } = signedRequest();
      expect(await store.create(record, once(signatureKey))).toStrictEqual({ outcome: 'created' });
      const copy = copyOf(record);
      expect(await store.create(copy, once(signatureKey))).toStrictEqual({ outcome: 'exists', record });
      const claim = claimOf(record);
      await store.claim(claim);
      const claimed = claimedRecord(record, claim);
      expect(await store.create(copy, once(signatureKey))).toStrictEqual({ outcome: 'exists', record: claimed });
      expect(await store.get(copy.requestId)).toBeUndefined();
    });

    test('is found where it was stored without being asked to be taken once', async () => {
      const { store } = use();
      const { record, signatureKey } = signedRequest();
      expect(await store.create(record, plain(signatureKey))).toStrictEqual({ outcome: 'created' });
      expect(await store.create(copyOf(record), once(signatureKey))).toStrictEqual({ outcome: 'exists', record });
    });

    test('is stored again by whoever does not ask for that', async () => {
      const { store } = use();
      const { record, signatureKey } = signedRequest();
      await store.create(record, once(signatureKey));
      const copy = copyOf(record);
      expect(await store.create(copy, plain(signatureKey))).toStrictEqual({ outcome: 'created' });
      expect(await store.get(copy.requestId)).toStrictEqual(copy);
    });

    test('is answered as the first time when the same record is stored again', async () => {
      const { store } = use();
      const { record, signatureKey } = signedRequest();
      for (let i = 0; i < 2; i++) {
        expect(await store.create(record, once(signatureKey))).toStrictEqual({ outcome: 'created' });
      }
      const { items } = await store.list({ filter: { signer: record.signer }, order: 'asc', limit: 10 });
      expect(items).toStrictEqual([record]);
    });

    test('is told from others of the same signer and of another chain', async () => {
      const { store } = use();
      const { record, signatureKey } = signedRequest();
      await store.create(record, once(signatureKey));
      const other = signedRequest({ signer: record.signer, chainName: record.chainName });
      expect(await store.create(other.record, once(other.signatureKey))).toMatchObject({ outcome: 'created' });
      const { r, s } = JSON.parse(record.paramsJson);
      const chainName = 'eip155:another';
      const key = createSignatureKey({ chainName, signer: record.signer, r, s });
      expect(await store.create({ ...copyOf(record), chainName }, once(key))).toMatchObject({ outcome: 'created' });
    });

    test('of many posts at the same time, from two processes, is stored by one of them', async () => {
      const { store, openPeer } = use();
      const peer = (await openPeer?.()) ?? store;
      const { record, signatureKey } = signedRequest();
      const answers = await Promise.all(
        Array.from({ length: RIVALS }, async (_, i): Promise<[string, Creation]> => {
          const own = copyOf(record);
          return [own.requestId, await (i % 2 === 0 ? store : peer).create(own, once(signatureKey))];
        }),
      );
      const stored = answers.filter(([, { outcome }]) => outcome === 'created').map(([requestId]) => requestId);
      const told = answers.flatMap(([, answer]) => (answer.outcome === 'exists' ? [answer.record.requestId] : []));
      expect(stored).toHaveLength(1);
      expect(new Set(told)).toStrictEqual(new Set(stored));
    });
  });
}
