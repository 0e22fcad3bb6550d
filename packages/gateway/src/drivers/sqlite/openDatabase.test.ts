import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pendingRequest } from '../../../test/contracts/storedRequests.ts';
import { createSqliteRig, openStoresOf, type SqliteRig, TEST_TABLES } from '../../../test/rigs/sqliteStores.ts';
import { openDatabase } from './openDatabase.ts';

let rig: SqliteRig;
beforeEach(async () => {
  rig = await createSqliteRig();
});
afterEach(() => rig.dispose());

describe('a connection', () => {
  test('writes ahead and waits for the disk at every commit, also on later connections', () => {
    for (let i = 0; i < 2; i++) {
      const database = openDatabase(rig.file);
      const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
      // 2 is FULL. https://sqlite.org/pragma.html#pragma_synchronous
      expect([pragma('journal_mode'), pragma('synchronous'), pragma('busy_timeout')]).toEqual(['wal', 2, 5000]);
      database.close();
    }
  });
});

describe('the schema', () => {
  test('is made once and found again', async () => {
    const record = pendingRequest();
    await rig.open().requests.create(record);
    await rig.close();
    expect(await rig.open().requests.get(record.requestId)).toEqual(record);
  });

  test.each(['requests', 'relayers', 'rateLimits'] as const)(
    'is made where only the name of %s has changed, and the other stores stay',
    async (changed) => {
      const record = pendingRequest();
      const [key, window] = ['reads:ip:192.0.2.1', 30_000_000];
      const before = rig.open();
      await before.requests.create(record);
      await before.relayers.put({ address: record.signer, now: 1 });
      await before.rateLimits.take({ key, window, elapsed: 0, limit: 10 });
      await rig.close();
      const stores = openStoresOf(rig.file, { ...TEST_TABLES, [changed]: 'another-name' });
      expect({
        requests: (await stores.requests.get(record.requestId)) !== undefined,
        relayers: (await stores.relayers.find(record.signer)) !== undefined,
        rateLimits: (await stores.rateLimits.peek(key, window)).current === 1,
      }).toEqual({ requests: true, relayers: true, rateLimits: true, [changed]: false });
      await expect(stores.checkReady()).resolves.toBeUndefined();
      await stores.close();
      expect(await rig.open().requests.get(record.requestId)).toEqual(record);
    },
  );

  test('of other names, however odd, stands beside it in the same file', async () => {
    const odd = { requests: 'x"; DROP TABLE y; --', relayers: "re'layers", rateLimits: 'rate limits' };
    const [one, two] = [rig.open(), openStoresOf(rig.file, odd)];
    const record = pendingRequest();
    await one.requests.create(record);
    expect(await two.requests.get(record.requestId)).toBeUndefined();
    await two.requests.create({ ...record, chainName: 'other' });
    await two.relayers.put({ address: record.signer, now: 1 });
    expect(await one.requests.get(record.requestId)).toEqual(record);
    expect(await one.relayers.list()).toEqual([]);
    await two.close();
  });

  test('is made by one of many that open the file in the same moment', async () => {
    const threads = 4;
    const rounds = 10;
    const turnstile = new SharedArrayBuffer(4 * rounds);
    const script = `(async () => {
      const { workerData, parentPort } = require('node:worker_threads');
      const { openStoresOf } = await import(workerData.module);
      const turnstile = new Int32Array(workerData.turnstile);
      for (let round = 0; round < workerData.rounds; round++) {
        // The last one to come lets all of them go at once; they spin, since a sleeping thread wakes late.
        Atomics.add(turnstile, round, 1);
        while (Atomics.load(turnstile, round) < workerData.threads);
        const stores = openStoresOf(workerData.file + round, workerData.tables);
        await stores.requests.stats();
        await stores.close();
      }
      parentPort.postMessage('done');
    })()`;
    const workerData = {
      module: import.meta.resolve('../../../test/rigs/sqliteStores.ts'),
      file: rig.file,
      tables: TEST_TABLES,
      turnstile,
      threads,
      rounds,
    };
    const opening = Array.from({ length: threads }, async () => {
      const worker = new Worker(script, { eval: true, workerData });
      return (await once(worker, 'message'))[0];
    });
    expect(await Promise.all(opening)).toEqual(Array(threads).fill('done'));
  });
});
