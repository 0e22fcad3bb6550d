import { statSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { anyAddress, claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { createSqliteRig, type SqliteRig, TEST_TABLES } from '../../../test/rigs/sqliteStores.ts';
import { createWorkerThread, type OwnedWorkerThread } from '../../entry/workerThread/createWorkerThread.ts';
import { RECORD_BYTES, type StoredRequest } from '../../ports/requestStore.ts';
import { createRetention, type RetentionOptions } from './createRetention.ts';
import { createWriter, type Writer } from './createWriter.ts';
import type { SqliteStores } from './openSqliteStores.ts';

const DAY = 86_400_000;

let rig: SqliteRig;
let stores: SqliteStores;
let thread: OwnedWorkerThread;
let writer: Writer;
beforeEach(async () => {
  rig = await createSqliteRig();
  stores = rig.open();
  thread = createWorkerThread();
  writer = createWriter({ file: rig.file, tables: TEST_TABLES }, thread);
});
afterEach(async () => {
  await writer.close();
  await thread.close();
  await rig.dispose();
});

async function sweep(options: Partial<RetentionOptions>): Promise<void> {
  const retention = createRetention(writer, {
    requestRetentionDays: 0,
    pendingRetentionDays: 0,
    now: () => START,
    ...options,
  });
  await retention.sweep();
  await retention.close();
}

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
  ['both, and never a claimed one', { requestRetentionDays: 3, pendingRetentionDays: 3 }, ['released', 'processing']],
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
  if (removed === undefined || reopened === undefined || released === undefined) throw new TypeError('three are made');
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

test('more records than a step takes are removed in steps, and the file gives their space back', async () => {
  const paramsJson = JSON.stringify({ payload: `0x${'ab'.repeat(4000)}` });
  const records = Array.from({ length: 350 }, () => pendingRequest({ createdAt: START - 40 * DAY, paramsJson }));
  await Promise.all(records.map((record) => stores.requests.create(record)));
  const orders: string[] = [];
  const watched: Pick<Writer, 'write'> = {
    write(kind, input) {
      orders.push(kind);
      return writer.write(kind, input);
    },
  };
  const options = { requestRetentionDays: 0, pendingRetentionDays: 30, now: () => START };
  const retention = createRetention(watched, options);
  await retention.sweep();
  await retention.close();
  expect((await stores.requests.stats()).countByStatus?.pending).toBe(0);
  expect(orders.filter((kind) => kind === 'expireStep').length).toBeGreaterThan(3);
  await rig.close();
  await writer.close();
  expect(statSync(rig.file).size, 'of 3 MB').toBeLessThan(500_000);
});

test('a sweep ends when the store does', async () => {
  const records = Array.from({ length: 250 }, () => pendingRequest({ createdAt: START - 40 * DAY }));
  await Promise.all(records.map((record) => stores.requests.create(record)));
  const retention = createRetention(writer, { requestRetentionDays: 0, pendingRetentionDays: 30, now: () => START });
  const sweeping = retention.sweep();
  await retention.close();
  await expect(sweeping).rejects.toMatchObject({ name: 'AbortError' });
});

test('a clock that leaps ahead removes nothing; the next start, which finds it so, does', async () => {
  const { pending } = await storeEach(1);
  let clock = START;
  const options = { requestRetentionDays: 0, pendingRetentionDays: 30, now: () => clock };
  const [before, isThere] = [
    createRetention(writer, options),
    async () => (await stores.requests.get(pending!.requestId)) !== undefined,
  ];
  clock += 40 * DAY;
  await before.sweep();
  expect(await isThere()).toBe(true);
  await before.close();
  const after = createRetention(writer, options);
  await after.sweep();
  expect(await isThere()).toBe(false);
  await after.close();
});
