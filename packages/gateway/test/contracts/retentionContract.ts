import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RetentionOptions } from '../../src/drivers/sql/createRetention.ts';
import type { AdminStore } from '../../src/ports/adminStore.ts';
import { RECORD_BYTES, type RequestStore, type StoredRequest } from '../../src/ports/requestStore.ts';
import { anyAddress, claimOf, pendingRequest, reportOf, START } from './storedRequests.ts';
import type { CreateStore, StoreUnderTest } from './storeUnderTest.ts';

/** A store that removes old records itself. */
export interface RetentionStores {
  readonly requests: RequestStore;
  readonly admin: AdminStore;
  /** Removes all that is old at a time, milliseconds since the epoch; what is not given is kept for ever. */
  sweep(options: Partial<RetentionOptions>): Promise<void>;
}

const DAY = 86_400_000;

/** Contract of the removal of old records, for stores of SQL. */
export function retentionContract(name: string, createStore: CreateStore<RetentionStores>): void {
  describe(`retention: ${name}`, () => {
    let made: StoreUnderTest<RetentionStores>;
    let stores: RetentionStores;
    beforeEach(async () => {
      made = await createStore();
      stores = made.store;
    });
    afterEach(() => made.dispose());
    const sweep = (options: Partial<RetentionOptions>) => stores.sweep({ now: () => START, ...options });

    /** One of each state, made `daysAgo` days before. */
    async function storeEach(daysAgo: number): Promise<Record<string, StoredRequest>> {
      const { requests } = stores;
      const at = START - daysAgo * DAY;
      const relayer = anyAddress();
      const made = { pending: 0, released: 0, processing: 0, success: 0, failed: 0 };
      const entries = await Promise.all(
        Object.keys(made).map(async (name) => {
          const record = pendingRequest({ createdAt: at });
          await requests.create(record);
          if (name !== 'pending') await requests.claim(claimOf(record, { relayer, now: at }));
          if (name === 'released') {
            await requests.release({ requestId: record.requestId, relayer, releaseId: 'release', now: at });
          }
          const failed = { status: 'failed', errorMessage: 'reverted' } as const;
          if (name === 'success') await requests.report(reportOf(record, { relayer, now: at }));
          if (name === 'failed') await requests.report(reportOf(record, { relayer, now: at, outcome: failed }));
          return [name, record] as const;
        }),
      );
      return Object.fromEntries(entries);
    }

    /** The names of those that are there. */
    async function namesOfKept(records: Record<string, StoredRequest>): Promise<string[]> {
      const kept: string[] = [];
      for (const [name, { requestId }] of Object.entries(records)) {
        if ((await stores.requests.get(requestId)) !== undefined) kept.push(name);
      }
      return kept;
    }

    // Shows STORE-10.
    test.each<[string, Partial<RetentionOptions>, string[]]>([
      ['nothing without a retention', {}, ['pending', 'released', 'processing', 'success', 'failed']],
      ['what has ended', { requestRetentionDays: 3 }, ['pending', 'released', 'processing']],
      ['what nobody has ever claimed', { pendingRetentionDays: 3 }, ['released', 'processing', 'success', 'failed']],
      [
        'both, and never a claimed one',
        { requestRetentionDays: 3, pendingRetentionDays: 3 },
        ['released', 'processing'],
      ],
    ])('a sweep removes %s', async (_, options, kept) => {
      const [old, young] = [await storeEach(3), await storeEach(2)];
      await sweep(options);
      expect(await namesOfKept(old)).toEqual(kept);
      expect(await namesOfKept(young)).toHaveLength(5);
      const { countByStatus } = await stores.requests.stats();
      expect(Object.values(countByStatus ?? {}).reduce((sum, count) => sum + count)).toBe(kept.length + 5);
    });

    test('one that ended late is kept though it began long ago, and holds nothing else up', async () => {
      const relayer = anyAddress();
      const records = [0, 1].map((i) => pendingRequest({ createdAt: START - 100 * DAY + i }));
      const [late, early] = records as [StoredRequest, StoredRequest];
      for (const [record, days] of [
        [late, 1],
        [early, 50],
      ] as const) {
        await stores.requests.create(record);
        await stores.requests.claim(claimOf(record, { relayer, now: START - 90 * DAY }));
        await stores.requests.report(reportOf(record, { relayer, now: START - days * DAY }));
      }
      await sweep({ requestRetentionDays: 10 });
      expect(await namesOfKept({ late, early })).toEqual(['late']);
    });

    // Shows STORE-11.
    test('whatever ends or removes what is pending gives its bytes back', async () => {
      const { requests, admin } = stores;
      const [relayer, holder] = [anyAddress(), '192.0.2.1'];
      const [removed, reopened, released] = [0, 1, 2].map(() => pendingRequest({ createdAt: START - 40 * DAY }));
      if (removed === undefined || reopened === undefined || released === undefined)
        throw new TypeError('three are made');
      const read = async () => await requests.pendingBytes?.(['', holder]);
      for (const record of [removed, reopened, released])
        await requests.create(record, { key: record.requestId, once: false, holders: [holder, '192.0.2'] });
      const size = Buffer.byteLength(removed.paramsJson) + RECORD_BYTES;
      expect(await read()).toEqual([3 * size, 3 * size]);
      const now = START - 40 * DAY;
      for (const record of [reopened, released]) await requests.claim(claimOf(record, { relayer, now }));
      const outcome = { status: 'failed', errorMessage: 'reverted' } as const;
      await requests.report(reportOf(reopened, { relayer, now, outcome }));
      expect(await read()).toEqual([size, size]);
      await requests.reopen({ requestId: reopened.requestId, relayer, releaseId: 'reopen', now });
      expect(await requests.releaseAll({ relayer, now, limit: 10 })).toBe(1);
      expect(await read()).toEqual([3 * size, 3 * size]);
      expect(await admin.remove(removed.requestId)).toBe('removed');
      for (const record of [reopened, released]) expect(await admin.remove(record.requestId)).toBe('removed');
      const old = pendingRequest({ createdAt: now });
      await requests.create(old, { key: old.requestId, once: false, holders: [holder] });
      await sweep({ pendingRetentionDays: 30 });
      expect(await requests.get(old.requestId)).toBeUndefined();
      expect(await read()).toEqual([0, 0]);
    });

    test('more records than a step takes are removed', async () => {
      const records = Array.from({ length: 450 }, () => pendingRequest({ createdAt: START - 40 * DAY }));
      await Promise.all(records.map((record) => stores.requests.create(record)));
      await sweep({ pendingRetentionDays: 30 });
      expect((await stores.requests.stats()).countByStatus?.pending).toBe(0);
    });
  });
}
