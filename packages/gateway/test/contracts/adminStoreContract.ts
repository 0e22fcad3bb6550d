import { sized } from '@prism-gateway/testing/test-size';
import { describe, expect, test } from 'vitest';
import { type AdminStore, KEPT_ACTS, type NotedAct, type QueueStats } from '../../src/ports/adminStore.ts';
import type { RequestChanges } from '../../src/ports/requestChanges.ts';
import type { RequestStore, StoredRequest } from '../../src/ports/requestStore.ts';
import { submissionKeyOf } from '../../src/rules/submissionKey.ts';
import { anyAddress, anyChain, anyTxHash, claimOf, pendingRequest, reportOf, START } from './storedRequests.ts';
import type { CreateStore } from './storeUnderTest.ts';
import { useStore } from './useStore.ts';

/** The views of one store. */
export interface AdminStores {
  readonly requests: RequestStore;
  readonly admin: AdminStore;
  readonly changes: RequestChanges;
}

const LATER = START + 5000;
/** Of two; in the full size more together than are kept. */
const ACTS_A_WRITER = sized({ small: 25, long: 525 });

const chainOf = ({ chains }: QueueStats, name: string) => chains.find(({ chainName }) => chainName === name);
const relayerOf = ({ relayers }: QueueStats, address: string) =>
  relayers.find((relayer) => relayer.address.toLowerCase() === address.toLowerCase());
const sumOf = (parts: QueueStats['minutes'], kind: 'posts' | 'claims' | 'success' | 'failed') =>
  parts.reduce((sum, part) => sum + part[kind], 0);

/** All acts, newest first. */
async function listAll(admin: AdminStore): Promise<readonly NotedAct[]> {
  const found: NotedAct[] = [];
  for (let before: number | undefined; ; ) {
    const { items, next } = await admin.listActs({ limit: 100, before });
    found.push(...items);
    if (next === null) return found;
    before = next;
  }
}

/** The contract of every store for administrators. */
export function adminStoreContract(name: string, createStore: CreateStore<AdminStores>): void {
  describe(`administrator's store: ${name}`, () => {
    const store = useStore(createStore);

    // Shows ADMIN-8.
    test('counts follow every move', async () => {
      const { requests, admin } = store().store;
      const chainName = anyChain();
      const [relayer, rival] = [anyAddress(), anyAddress()];
      const records = Array.from({ length: 4 }, () => pendingRequest({ chainName }));
      const before = await admin.readStats(LATER);
      for (const record of records) await requests.create(record);
      const [first, second, third] = records as [(typeof records)[0], (typeof records)[0], (typeof records)[0]];
      for (const record of [first, second, third]) await requests.claim(claimOf(record, { relayer }));
      await requests.claim(claimOf(first, { relayer: rival }));
      await requests.report(reportOf(first, { relayer }));
      const failure = { status: 'failed', errorMessage: 'no gas' } as const;
      await requests.report(reportOf(second, { relayer, outcome: failure }));
      await requests.release({ requestId: third.requestId, relayer, releaseId: 'once', now: LATER });

      const stats = await admin.readStats(LATER);
      expect(chainOf(stats, chainName)).toEqual({ chainName, pending: 2, processing: 0, success: 1, failed: 1 });
      expect(relayerOf(stats, relayer)).toMatchObject({ openClaims: 0, success: 1, failed: 1, conflicts: 0 });
      expect(relayerOf(stats, relayer)).toMatchObject({ lastSeenAt: START + 2000 });
      // Whoever has only lost a claim, and was not seen otherwise, was not seen in 1970.
      expect(relayerOf(stats, rival)).not.toHaveProperty('lastSeenAt');
      const follower = anyAddress();
      await admin.recordSeen(rival, LATER);
      await admin.recordSeen(follower, LATER - 1);
      const later = await admin.readStats(LATER);
      expect(relayerOf(later, rival)).toMatchObject({ conflicts: 1, lastSeenAt: LATER });
      expect(relayerOf(later, follower)).toMatchObject({ openClaims: 0, success: 0, lastSeenAt: LATER - 1 });
      // A second from claim to report, within a tenth.
      expect(Math.abs((relayerOf(stats, relayer)?.medianMs ?? 0) - 1000)).toBeLessThan(100);
      expect(relayerOf(stats, rival)).toMatchObject({ success: 0, conflicts: 1 });
      for (const part of ['minutes', 'hours'] as const) {
        const grown = (kind: 'posts' | 'claims' | 'success' | 'failed') =>
          sumOf(stats[part], kind) - sumOf(before[part], kind);
        expect([grown('posts'), grown('claims'), grown('success'), grown('failed')]).toEqual([4, 3, 1, 1]);
      }
    });

    test('a signature that was taken already is no post, and a release of all is one of each', async () => {
      const { requests, admin } = store().store;
      const [chainName, relayer, r, s] = [anyChain(), anyAddress(), anyTxHash(), anyTxHash()];
      const records = Array.from({ length: 3 }, () => pendingRequest({ chainName }));
      for (const record of records) await requests.create(record);
      const signed = pendingRequest({ chainName, paramsJson: JSON.stringify({ r, s }) });
      const params = { timestamp: '1', r, s };
      const submission = { key: submissionKeyOf({ ...signed, params }), once: true };
      for (const { requestId } of [signed, pendingRequest()])
        await requests.create({ ...signed, requestId }, submission);
      for (const record of records) await requests.claim(claimOf(record, { relayer }));
      await store().catchUp?.();
      expect(await requests.releaseAll({ relayer, now: LATER, limit: 10 })).toBe(3);
      const stats = await admin.readStats(LATER);
      expect(chainOf(stats, chainName)).toEqual({ chainName, pending: 4, processing: 0, success: 0, failed: 0 });
      expect(relayerOf(stats, relayer)).toMatchObject({ openClaims: 0 });
    });

    // Shows ADMIN-8.
    test('the oldest pending and the oldest processing one are reported', async () => {
      const { requests, admin } = store().store;
      const [oldest, claimed] = [
        pendingRequest({ createdAt: START - 9000 }),
        pendingRequest({ createdAt: START - 8000 }),
      ];
      for (const record of [oldest, claimed]) await requests.create(record);
      await requests.claim(claimOf(claimed));
      await store().catchUp?.();
      expect(await admin.readStats(LATER)).toMatchObject({
        oldestPendingAt: START - 9000,
        oldestProcessingAt: START - 8000,
      });
    });

    // Shows OPERATE-4.
    test('the oldest pending one of a chain is reported, whatever stands in others and whatever was claimed', async () => {
      const { requests, admin } = store().store;
      const chainName = anyChain();
      const [claimed, oldest, younger] = [-7000, -6000, -5000].map((ms) =>
        pendingRequest({ chainName, createdAt: START + ms }),
      ) as [StoredRequest, StoredRequest, StoredRequest];
      await requests.create(pendingRequest({ createdAt: START - 8000 }));
      for (const record of [younger, oldest, claimed]) await requests.create(record);
      await requests.claim(claimOf(claimed));
      await store().catchUp?.();
      expect(await admin.findOldestPending(chainName)).toBe(START - 6000);
      expect(await admin.findOldestPending(anyChain())).toBeUndefined();
    });

    // Shows ADMIN-7.
    test('what nobody holds is removed for good, with its counts; what is claimed stays', async () => {
      const { requests, admin } = store().store;
      const chainName = anyChain();
      const [pending, claimed] = [pendingRequest({ chainName }), pendingRequest({ chainName })];
      for (const record of [pending, claimed]) await requests.create(record);
      await requests.claim(claimOf(claimed));
      expect(await admin.remove(pending.requestId)).toBe('removed');
      expect(await requests.get(pending.requestId)).toBeUndefined();
      expect(await admin.remove(pending.requestId)).toBe('missing');
      expect(await admin.remove(claimed.requestId)).toBe('claimed');
      expect(await requests.get(claimed.requestId)).toMatchObject({ status: 'processing' });
      expect(chainOf(await admin.readStats(LATER), chainName)).toMatchObject({ pending: 0, processing: 1 });
    });

    // Shows ADMIN-7.
    test('who waits for a request has learned it when its removal is answered', async () => {
      const { requests, admin, changes } = store().store;
      const records = [pendingRequest(), pendingRequest()] as const;
      for (const record of records) await requests.create(record);
      const reported: string[] = [];
      const ends = records.map(({ requestId }) =>
        changes.watch({ requestId, status: 'pending' }, () => reported.push(requestId)),
      );
      expect(await admin.remove(records[0].requestId)).toBe('removed');
      expect(reported).toContain(records[0].requestId);
      for (const end of ends) end();
    });

    // Shows ADMIN-11.
    test('acts are listed newest first, page by page, without those that were taken back', async () => {
      const { admin } = store().store;
      const keyId = anyAddress().slice(2, 14);
      const noted = [];
      for (let n = 0; n < 5; n++) {
        const act = { at: START + n, act: 'requests.fail', keyId, target: anyAddress(), reason: `reason ${n} 💸` };
        noted.push({ ...act, number: await admin.recordAct(act) });
      }
      await admin.recordAct({ at: LATER, act: 'requests.purge', keyId, target: 'x' });
      await admin.dropAct(noted[3]?.number ?? 0);
      await admin.dropAct(noted[3]?.number ?? 0);
      const found = [];
      for (let before: number | undefined; ; ) {
        const { items, next } = await admin.listActs({ limit: 2, before });
        found.push(...items.filter((act) => act.keyId === keyId));
        if (next === null || found.some(({ at }) => at === START)) break;
        before = next;
      }
      expect(await admin.listActs({ limit: 2, before: 1 })).toEqual({ items: [], next: null });
      expect(found.map(({ at, reason }) => [at, reason])).toEqual([
        [LATER, undefined],
        ...[4, 2, 1, 0].map((n) => [START + n, `reason ${n} 💸`]),
      ]);
    });

    // Shows ADMIN-11.
    test('of acts by two processes the newest 1,000 are shown, none lost; refused ones push out no more than one', async () => {
      const { store: one, openPeer } = store();
      const admins = [one.admin, ((await openPeer?.()) ?? one).admin];
      const keyId = anyAddress().slice(2, 14);
      const note = async (admin: AdminStore | undefined, target: string) =>
        await admin?.recordAct({ at: LATER, act: 'requests.fail', keyId, target });
      async function recordMany(writer: number): Promise<void> {
        for (let n = 0; n < ACTS_A_WRITER; n++) await note(admins[writer], `${writer} ${n}`);
      }
      await Promise.all([recordMany(0), recordMany(1)]);
      for (let n = 0; n < 5; n++) await admins[n % 2]?.dropAct((await note(admins[n % 2], 'refused')) ?? 0);

      const found = await listAll(one.admin);
      const own = found.filter((act) => act.keyId === keyId).map(({ target }) => target);
      expect(own.length).toBeGreaterThanOrEqual(Math.min(2 * ACTS_A_WRITER, KEPT_ACTS - 1));
      for (const writer of [0, 1]) {
        const numbers = own
          .filter((target) => target.startsWith(`${writer} `))
          .map((target) => Number(target.slice(2)));
        // The newest of each writer, in its order, without a gap.
        expect(numbers).toEqual(numbers.map((_, back) => ACTS_A_WRITER - 1 - back));
      }
    });

    describe('of many chains', () => {
      // Names beyond a number are counted together from then on: other tests could not count theirs there.
      const full = useStore(createStore);

      // Shows ADMIN-8.
      test('names of chains beyond a number are counted together: strangers choose them', async () => {
        const { requests, admin } = full().store;
        await Promise.all(Array.from({ length: 220 }, () => requests.create(pendingRequest())));
        const { chains } = await admin.readStats(LATER);
        expect(chains.length).toBeLessThanOrEqual(201);
        expect(chains.at(-1)).toMatchObject({ chainName: null });
        expect(chains.at(-1)?.pending).toBeGreaterThan(0);
      });
    });
  });
}
