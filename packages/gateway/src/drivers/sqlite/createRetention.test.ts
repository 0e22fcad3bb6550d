import { statSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { retentionContract } from '../../../test/contracts/retentionContract.ts';
import { pendingRequest, START } from '../../../test/contracts/storedRequests.ts';
import { createSqliteRig, type SqliteRig, TEST_TABLES } from '../../../test/rigs/sqliteStores.ts';
import { createWorkerThread, type OwnedWorkerThread } from '../../entry/workerThread/createWorkerThread.ts';
import { createRetention } from './createRetention.ts';
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

retentionContract('sqlite', async () => {
  const { requests, admin } = stores;
  return {
    store: {
      ...{ requests, admin },
      async sweep(options) {
        const never = { requestRetentionDays: 0, pendingRetentionDays: 0, now: Date.now };
        const retention = createRetention(writer, { ...never, ...options });
        await retention.sweep();
        await retention.close();
      },
    },
    cutOff: rig.close,
    dispose: async () => undefined,
  };
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
  const pending = pendingRequest({ createdAt: START - DAY });
  await stores.requests.create(pending);
  let clock = START;
  const options = { requestRetentionDays: 0, pendingRetentionDays: 30, now: () => clock };
  const [before, isThere] = [
    createRetention(writer, options),
    async () => (await stores.requests.get(pending.requestId)) !== undefined,
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
