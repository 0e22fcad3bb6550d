import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrateDatabase } from '@prism-gateway/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claimOf, pendingRequest } from '../../../test/contracts/storedRequests.ts';
import { countCommits } from '../../../test/rigs/countCommits.ts';
import { createSqliteRig, openStoresOf, type SqliteRig, TEST_TABLES } from '../../../test/rigs/sqliteStores.ts';
import { createWorkerThread, type OwnedWorkerThread } from '../../entry/workerThread/createWorkerThread.ts';
import type { Creation } from '../../ports/requestStore.ts';
import type { ServiceCaller, WorkerThread } from '../../ports/workerThread.ts';
import { newRequestOf } from './createWrite.ts';
import { createWriter } from './createWriter.ts';
import { openDatabase } from './openDatabase.ts';
import type { FromWriter } from './runWriter.ts';
import { schemasOf } from './schema.ts';

const CREATED: Creation = { outcome: 'created' };

let rig: SqliteRig;
let thread: OwnedWorkerThread;
beforeEach(async () => {
  rig = await createSqliteRig();
  thread = createWorkerThread();
});
afterEach(async () => {
  await thread.close();
  await rig.dispose();
});

describe('group commit', () => {
  test('writes one after another are a commit each', async () => {
    const { requests } = rig.open();
    await requests.create(pendingRequest());
    const before = await countCommits(rig.file);
    for (let i = 0; i < 20; i++) await requests.create(pendingRequest());
    expect((await countCommits(rig.file)) - before).toBe(20);
  });

  test('writes at the same time share few commits', async () => {
    const { requests } = rig.open();
    await requests.create(pendingRequest());
    const before = await countCommits(rig.file);
    await Promise.all(Array.from({ length: 200 }, () => requests.create(pendingRequest())));
    const commits = (await countCommits(rig.file)) - before;
    expect(commits).toBeGreaterThan(0);
    expect(commits).toBeLessThan(40);
  });

  test('an order that fails harms none of those it travels with', async () => {
    const { requests } = rig.open();
    const good = Array.from({ length: 10 }, () => pendingRequest());
    // The column takes no null: what no parsed request can hold stands in for a full disk or a broken page.
    const bad = { ...pendingRequest(), chainName: null as unknown as string };
    const answers = await Promise.allSettled(
      [...good.slice(0, 5), bad, ...good.slice(5)].map((r) => requests.create(r)),
    );
    expect(answers.map(({ status }) => status)).toEqual([
      ...Array(5).fill('fulfilled'),
      'rejected',
      ...Array(5).fill('fulfilled'),
    ]);
    for (const record of good) expect(await requests.get(record.requestId)).toEqual(record);
    expect((await requests.stats()).countByStatus?.pending).toBe(10);
  });
});

/** The worker thread, and what writers do with it: how often they connect, the orders they send, how many outcomes come back at once. */
function watchThread(): { watched: WorkerThread; connects: string[]; sent: unknown[]; replies: number[] } {
  const [connects, sent, replies]: [string[], unknown[], number[]] = [[], [], []];
  const watched: WorkerThread = {
    connect<Message, Reply>(service: string, data: unknown, caller: ServiceCaller<Reply>) {
      connects.push(service);
      const connection = thread.connect<Message, Reply>(service, data, {
        ...caller,
        onReply(reply) {
          // It is a writer's.
          replies.push((reply as FromWriter).outcomes.length);
          caller.onReply(reply);
        },
      });
      const send: typeof connection.send = (message, transfer) => {
        sent.push(message);
        connection.send(message, transfer);
      };
      return { ...connection, send };
    },
  };
  return { watched, connects, sent, replies };
}

describe('a file that another process keeps locked', () => {
  test('is waited for once, not once for each write, and serves again afterwards', async () => {
    const { requests } = rig.open();
    const known = pendingRequest();
    await requests.create(known);
    const { watched, replies } = watchThread();
    const writer = createWriter({ file: rig.file, tables: TEST_TABLES }, watched);
    const other = new DatabaseSync(rig.file);
    other.exec('BEGIN IMMEDIATE');
    const writes = Array.from({ length: 12 }, () => writer.write('create', newRequestOf(pendingRequest(), undefined)));
    const answers = await Promise.allSettled(writes);
    expect(await requests.get(known.requestId)).toEqual(known);
    other.exec('ROLLBACK');
    other.close();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['rejected']));
    for (const answer of answers) {
      expect(answer).toMatchObject({ reason: { code: 'DEPENDENCY_UNAVAILABLE', dependency: 'store' } });
    }
    // All are refused after one wait.
    expect(replies).toEqual([12]);
    expect(await writer.write('create', newRequestOf(pendingRequest(), undefined))).toEqual(CREATED);
    await writer.close();
  });

  test('makes a write wait, not fail, when it is locked for a moment', async () => {
    const { requests } = rig.open();
    const record = pendingRequest();
    await requests.create(record);
    const other = new DatabaseSync(rig.file);
    other.exec('BEGIN IMMEDIATE');
    const claiming = requests.claim(claimOf(record));
    const release = requests.stats().then(() => other.exec('ROLLBACK'));
    expect(await claiming).toMatchObject({ outcome: 'moved' });
    await release;
    other.close();
  });
});

describe('a thread that dies', () => {
  test('rejects what it was asked, and the next write starts another', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'prism-sqlite-'));
    const file = join(parent, 'gone.db');
    // The file is there, but not its tables: the thread cannot prepare its statements.
    new DatabaseSync(file).exec('CREATE TABLE other (x)');
    const writer = createWriter({ file, tables: TEST_TABLES }, thread);
    const first = await Promise.allSettled([
      writer.write('create', newRequestOf(pendingRequest(), undefined)),
      writer.write('removeRelayer', '0x'),
    ]);
    for (const answer of first) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'DEPENDENCY_UNAVAILABLE' } });
    }
    await rm(file);
    await rm(`${file}-wal`, { force: true });
    await rm(`${file}-shm`, { force: true });
    const database = openDatabase(file);
    migrateDatabase(database, schemasOf(TEST_TABLES));
    database.close();
    expect(await writer.write('create', newRequestOf(pendingRequest(), undefined))).toEqual(CREATED);
    await writer.close();
    await rm(parent, { recursive: true });
  });

  test('an order that it was not sent yet is carried out by the next one, and told so', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'prism-sqlite-'));
    const file = join(directory, 'late.db');
    new DatabaseSync(file).exec('CREATE TABLE other (x)');
    const record = pendingRequest();
    let late: Promise<Creation> | undefined;
    function orderLate(): Promise<Creation> {
      const database = openDatabase(file);
      migrateDatabase(database, schemasOf(TEST_TABLES));
      database.close();
      return writer.write('create', newRequestOf(record, undefined));
    }
    const watched: WorkerThread = {
      connect: (service, data, caller) =>
        thread.connect(service, data, {
          ...caller,
          onGone(cause) {
            // It comes in the turn in which the death is reported.
            late ??= orderLate();
            caller.onGone(cause);
          },
        }),
    };
    const writer = createWriter({ file, tables: TEST_TABLES }, watched);
    await expect(writer.write('create', newRequestOf(pendingRequest(), undefined))).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
    });
    expect(await late).toEqual(CREATED);
    await writer.close();
    const stores = openStoresOf(file, TEST_TABLES);
    expect(await stores.requests.get(record.requestId)).toEqual(record);
    await stores.close();
    await rm(directory, { recursive: true });
  });
});

describe('closing', () => {
  test('finishes what was ordered before, and refuses what comes after', async () => {
    const stores = rig.open();
    const records = Array.from({ length: 50 }, () => pendingRequest());
    const writing = Promise.all(records.map((record) => stores.requests.create(record)));
    await rig.close();
    await writing;
    const late = stores.requests.create(pendingRequest());
    await expect(late).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    const again = rig.open();
    for (const record of records) expect(await again.requests.get(record.requestId)).toEqual(record);
  });

  test('twice is once', async () => {
    const { watched, sent } = watchThread();
    const writer = createWriter({ file: rig.file, tables: TEST_TABLES }, watched);
    rig.open();
    await writer.write('removeRelayer', '0x');
    await Promise.all([writer.close(), writer.close()]);
    await writer.close();
    // Null asks the thread to close.
    expect(sent.filter((message) => message === null)).toHaveLength(1);
  });

  test('before the first write is done without a thread', async () => {
    const { watched, connects } = watchThread();
    await createWriter({ file: rig.file, tables: TEST_TABLES }, watched).close();
    expect(connects).toEqual([]);
  });
});
