import { randomBytes } from 'node:crypto';
import type { ProxiedCall } from '@prism-gateway/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { anyAddress, claimOf, pendingRequest, reportOf } from '../../../test/contracts/storedRequests.ts';
import { walkList } from '../../../test/contracts/walkList.ts';
import { createBreakingClient } from '../../../test/rigs/dynamoBreakingClient.ts';
import { createDynamoRig, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { RequestStore, StoredRequest } from '../../ports/requestStore.ts';

/** Tries of the client of what fails at once. */
const TRIES = 7;
/** Calls at once with one signature. */
const RIVALS = 12;

const anyKey = () => randomBytes(32).toString('base64url');
const isPut = ({ headers }: ProxiedCall) => `${headers['x-amz-target']}`.endsWith('PutItem');

describeWithDynamo('a signature that is taken once', () => {
  let rig: DynamoRig;
  let store: RequestStore;
  let peer: RequestStore;
  beforeAll(async () => {
    rig = await createDynamoRig();
    const [one, other] = [rig.open(), rig.open()];
    // What a first call writes about the table is no write of a creation.
    await one.prepare();
    await other.prepare();
    [store, peer] = [one.requests, other.requests];
  });
  beforeEach(() => {
    rig.proxy.setShares({});
    rig.proxy.planFaults([]);
  });
  afterAll(() => rig.dispose());

  const all = (signer: string) => walkList(store, { filter: { signer }, order: 'asc', limit: 50 });
  const large = (fields: Partial<StoredRequest>) =>
    pendingRequest({ paramsJson: JSON.stringify({ payload: randomBytes(4000).toString('hex') }), ...fields });

  /** Fails the n-th write and all tries of it. */
  function failFrom(nth: number): void {
    let writes = 0;
    rig.proxy.planFaults(Array(TRIES).fill('cutBefore'), (call) => isPut(call) && ++writes >= nth);
  }

  // Shows STORE-1.
  test.each([
    ['its record', 2, pendingRequest],
    ['its params', 2, large],
    ['its head', 3, large],
  ])('a creation that dies before %s is made up for by the next one, under its id', async (_, nth, make) => {
    const submission = { key: anyKey(), once: true };
    const [first, second] = [make({ signer: anyAddress() }), make({})];
    failFrom(nth);
    await expect(store.create(first, submission)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    rig.proxy.planFaults([]);
    const made = { ...second, requestId: first.requestId };
    expect(await peer.create(second, submission)).toStrictEqual({ outcome: 'exists', record: made });
    expect(await store.create(large({}), submission)).toStrictEqual({ outcome: 'exists', record: made });
    expect(await all(second.signer)).toStrictEqual([made]);
    expect(await all(first.signer)).toStrictEqual([]);
  });

  test('of rivals one record comes, whatever answers are lost, and each is told what stands', async () => {
    // Of seven tries of one call, all fail in one of a hundred thousand.
    rig.proxy.setShares({ cutAfter: 0.08, cutBefore: 0.04, throttle: 0.04 });
    for (let round = 0; round < 5; round++) {
      const [signer, submission] = [anyAddress(), { key: anyKey(), once: true }];
      const records = Array.from({ length: RIVALS }, () => large({ signer }));
      const answers = await Promise.all(
        records.map((record, i) => (i % 2 === 0 ? store : peer).create(record, submission)),
      );
      const standing = await all(signer);
      expect(standing).toHaveLength(1);
      for (const [i, answer] of answers.entries()) expect(answer.record ?? records[i]).toStrictEqual(standing[0]);
      expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(1);
    }
  });

  test('a rival that stores what another has marked leaves it the creation', async () => {
    const [first, second] = [pendingRequest(), pendingRequest()];
    const submission = { key: anyKey(), once: true };
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const client = createBreakingClient(rig.endpoint, {
      async before({ requestId }) {
        if (requestId === first.requestId) begun.resolve();
        if (requestId === first.requestId) await goOn.promise;
        return false;
      },
    });
    const creating = rig.open({ client }).requests.create(first, submission);
    await begun.promise;
    const made = { ...second, requestId: first.requestId };
    expect(await peer.create(second, submission)).toStrictEqual({ outcome: 'exists', record: made });
    goOn.resolve();
    expect(await creating).toStrictEqual({ outcome: 'created', record: made });
  });

  test('a plain creation is found later, and is a request of its own whoever was first', async () => {
    const [signer, key] = [anyAddress(), anyKey()];
    const records = Array.from({ length: 3 }, () => pendingRequest({ signer }));
    for (const record of records.slice(0, 2)) {
      expect(await store.create(record, { key, once: false })).toStrictEqual({ outcome: 'created' });
    }
    const found = await peer.create(records[2]!, { key, once: true });
    expect(found).toStrictEqual({ outcome: 'exists', record: records[0] });
    expect(await all(signer)).toHaveLength(2);
  });

  test('a plain creation after one that failed is found later', async () => {
    const [relayer, key] = [anyAddress(), anyKey()];
    const [first, second] = [pendingRequest(), pendingRequest()];
    await store.create(first, { key, once: false });
    await store.claim(claimOf(first, { relayer }));
    await store.report(reportOf(first, { relayer, outcome: { status: 'failed', errorMessage: 'it reverted' } }));
    await peer.create(second, { key, once: false });
    const found = await store.create(pendingRequest(), { key, once: true });
    expect(found).toStrictEqual({ outcome: 'exists', record: second });
  });

  test('a plain creation that was only marked takes nothing from the next one', async () => {
    const [first, second, key] = [pendingRequest(), pendingRequest(), anyKey()];
    const client = createBreakingClient(rig.endpoint, { before: ({ requestId }) => requestId === first.requestId });
    const creating = rig.open({ client }).requests.create(first, { key, once: false });
    await expect(creating).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    expect(await store.create(second, { key, once: true })).toStrictEqual({ outcome: 'created' });
    expect(await store.get(first.requestId)).toBeUndefined();
    const third = await store.create(pendingRequest(), { key, once: true });
    expect(third).toStrictEqual({ outcome: 'exists', record: second });
  });

  test('a creation that is repeated is answered as the first time', async () => {
    const [record, submission] = [large({}), { key: anyKey(), once: true }];
    expect(await store.create(record, submission)).toStrictEqual({ outcome: 'created' });
    expect(await store.create(record, submission)).toStrictEqual({ outcome: 'created' });
  });
});
