import { setTimeout as sleep } from 'node:timers/promises';
import { sized } from '@prism-gateway/testing/test-size';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStores, type PostgresStores } from '../../src/drivers/postgres/openPostgresStores.ts';
import { DependencyUnavailableError } from '../../src/ports/errors.ts';
import type { StoredRequest } from '../../src/ports/requestStore.ts';
import { ALL, anyAddress, anyChain, claimOf, pendingRequest, reportOf, START } from '../contracts/storedRequests.ts';
import { createPostgresRig, openStoresOf, type PostgresRig } from '../rigs/postgresStores.ts';
import { TEST_TABLES } from '../rigs/sqliteStores.ts';
import { startCuttingProxy } from './startCuttingProxy.ts';

let rig: PostgresRig;
beforeAll(async () => {
  rig = await createPostgresRig();
});
afterAll(() => rig.close());

const TABLE = '"service-requests-test"';

/** Opens a session of somebody else, who does as they like. */
async function openSession(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: rig.url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

describe('a connection that is cut in the middle of a commit', () => {
  // Shows POSTGRES-2.
  test.each(['before commit', 'before answer'] as const)(
    '%s: what did not come through is written anew, and nothing twice',
    async (cut) => {
      const { port, pathname, username, password } = new URL(rig.url);
      const proxy = await startCuttingProxy(Number(port));
      const stores = await openStoresOf(`postgres://${username}:${password}@127.0.0.1:${proxy.port}${pathname}`);
      try {
        for (let round = 0; round < 5; round++) {
          const record = pendingRequest();
          await stores.requests.create(pendingRequest());
          proxy.cutNext(cut);
          expect((await stores.requests.create(record)).outcome).toBe('created');
          expect((await stores.requests.get(record.requestId))?.requestId).toBe(record.requestId);
        }
      } finally {
        await stores.close();
        await proxy.close();
      }
    },
  );
});

describe('several processes', () => {
  test('of 20 that race for the same requests each has one winner, and all know who', async () => {
    const processes = await Promise.all(Array.from({ length: 20 }, () => rig.open()));
    const [first] = processes as [PostgresStores];
    // More chains than the statistics name one by one would hide those of the tests that follow.
    const chainName = anyChain();
    const records = Array.from({ length: sized({ small: 100, long: 1000 }) }, () => pendingRequest({ chainName }));
    for (const record of records) await first.requests.create(record);
    const relayers = processes.map(anyAddress);
    const races = records.map(async (record) => {
      const claims = processes.map(({ requests }, i) =>
        requests.claim(claimOf(record, { relayer: relayers[i] ?? '' })),
      );
      const outcomes = (await Promise.all(claims)).map(({ outcome }) => outcome);
      const winner = (await first.requests.get(record.requestId))?.claimedBy ?? '';
      expect(outcomes.filter((outcome) => outcome === 'moved')).toHaveLength(1);
      expect(outcomes[relayers.indexOf(winner)]).toBe('moved');
    });
    await Promise.all(races);
    await Promise.all(processes.map((stores) => stores.close()));
  });

  // Shows POSTGRES-1.
  test('the feed follows the order of commits, through slow and crossing transactions', async () => {
    const [one, other, reader] = [await rig.open(), await rig.open(), await rig.open()];
    const chainName = anyChain();
    const stored: string[] = [];
    let isStoring = true;
    const store = async ({ requests }: PostgresStores) => {
      for (let i = 0; i < 60; i++) {
        const record = pendingRequest({ chainName });
        await requests.create(record);
        stored.push(record.requestId);
      }
    };
    /** A gateway that is slow between its lock and its commit. */
    const crawl = async () => {
      const session = await openSession();
      for (let i = 0; i < 5; i++) {
        const record = pendingRequest({ chainName });
        await session.query('BEGIN');
        const { rows } = await session.query(
          `SELECT value FROM "service-requests-test-counters" WHERE name = 'sequence' FOR UPDATE`,
        );
        const seq = Number(rows[0]?.value) + 1;
        await session.query(
          `INSERT INTO ${TABLE} (request_id, chain_name, action, signer, status, created_at, updated_at, params, bytes, holders, moved_seq)
           VALUES ($1, $2, 'WRITE_DATA_FOR', $3, 'pending', $4, $4, '{}', 2, '{}', $5)`,
          [record.requestId, chainName, record.signer, START, seq],
        );
        await sleep(50);
        await session.query(
          `UPDATE "service-requests-test-counters" SET value = ${seq} WHERE name = 'sequence'; COMMIT`,
        );
        stored.push(record.requestId);
      }
      await session.end();
    };
    const seen: string[] = [];
    const follow = async () => {
      let after: string | undefined;
      for (let isLast = false; !isLast; ) {
        isLast = !isStoring;
        const page = await reader.requests.feed({
          ...{ chainName, from: 'oldest', limit: 7, now: START, ...ALL },
          ...(after !== undefined && { after }),
        });
        after = page.next;
        seen.push(...page.items.map(({ requestId }) => requestId));
        if (page.items.length > 0) isLast = false;
      }
    };
    const following = follow();
    await Promise.all([store(one), store(other), crawl()]);
    isStoring = false;
    await following;
    expect(seen).toHaveLength(stored.length);
    expect(new Set(seen)).toEqual(new Set(stored));
  });

  test('who waits learns it by notification, and by polling if that is lost', async () => {
    const [one, other] = [await rig.open(), await rig.open()];
    const notifiedOf = ({ requestId }: StoredRequest) =>
      new Promise<string>((resolve) => {
        const unwatch = other.changes.watch({ requestId, status: 'pending' }, () => {
          unwatch();
          resolve('told');
        });
      });
    const records = [pendingRequest(), pendingRequest()] as const;
    for (const record of records) await one.requests.create(record);
    const first = notifiedOf(records[0]);
    await one.requests.claim(claimOf(records[0]));
    expect(await first).toBe('told');
    const second = notifiedOf(records[1]);
    // A commit of which nobody is notified.
    await rig.query(
      `BEGIN; UPDATE "service-requests-test-counters" SET value = value + 1 WHERE name = 'sequence';
       UPDATE ${TABLE} SET status = 'failed', moved_seq = (SELECT max(value) FROM "service-requests-test-counters")
       WHERE request_id = '${records[1].requestId}'; COMMIT`,
    );
    expect(await second).toBe('told');
  });

  test('that start at once make the tables once; an older program refuses newer tables', async () => {
    const own = await createPostgresRig();
    const processes = await Promise.all(Array.from({ length: 8 }, () => own.open()));
    await Promise.all(processes.map(({ requests }) => requests.create(pendingRequest())));
    expect(await own.query(`SELECT count(*)::int AS stored FROM ${TABLE}`)).toEqual([{ stored: 8 }]);
    await own.query('UPDATE schema_versions SET version = version + 1');
    await expect(own.open()).rejects.toMatchObject({ code: 'NEWER_SCHEMA' });
    await own.close();
  });
});

describe('a database in trouble', () => {
  async function outcomeOf(promise: Promise<unknown>): Promise<string> {
    return await promise.then(
      () => 'done',
      (error: unknown) => (error instanceof DependencyUnavailableError ? 'unavailable' : String(error)),
    );
  }

  // Shows POSTGRES-4.
  test('no call fails while a later version adds columns', async () => {
    const own = await createPostgresRig();
    const stores = await own.open();
    const relayer = anyAddress();
    async function useAll(): Promise<void> {
      const record = pendingRequest();
      expect(await stores.requests.create(record)).toMatchObject({ outcome: 'created' });
      expect(await stores.requests.claim(claimOf(record, { relayer }))).toMatchObject({ outcome: 'moved' });
      await Promise.all(Array.from({ length: 8 }, () => stores.relayers.find(relayer)));
      await stores.relayers.put({ address: relayer, now: START });
    }
    await useAll();
    const tables = await own.query("SELECT format('%I', tablename) AS name FROM pg_tables WHERE schemaname = 'public'");
    for (const change of ['ADD COLUMN later text', 'DROP COLUMN later']) {
      for (const { name } of tables) await own.query(`ALTER TABLE ${name} ${change}`);
      await useAll();
    }
    await own.close();
  });

  test('somebody else’s long transaction holds nobody up; their lock on the table is 503, and all goes on afterwards', async () => {
    const stores = await rig.open();
    const record = pendingRequest();
    const session = await openSession();
    await session.query(`BEGIN; SELECT txid_current(); SELECT count(*) FROM ${TABLE}`);
    expect(await outcomeOf(stores.requests.create(record))).toBe('done');
    const { items } = await stores.requests.feed({
      chainName: record.chainName,
      from: 'oldest',
      limit: 5,
      now: START,
      ...ALL,
    });
    expect(items).toHaveLength(1);
    await session.query(`LOCK TABLE ${TABLE}`);
    const calls = [
      stores.requests.create(pendingRequest()),
      stores.requests.get(record.requestId),
      stores.checkReady(),
    ];
    // The type of the second is another one only in form.
    expect(await Promise.all(calls.map((call) => outcomeOf(Promise.resolve(call))))).toEqual([
      'unavailable',
      'unavailable',
      'unavailable',
    ]);
    await session.query('ROLLBACK');
    expect(await outcomeOf(stores.requests.create(pendingRequest()))).toBe('done');
    await session.end();
  });

  test('more calls than the pool has places wait their turn', async () => {
    const stores = await rig.open();
    const record = pendingRequest();
    await stores.requests.create(record);
    const found = await Promise.all(Array.from({ length: 300 }, () => stores.requests.get(record.requestId)));
    expect(found.every((one) => one?.requestId === record.requestId)).toBe(true);
  });

  test('connections that the server ends are made anew, and one bad order harms no other', async () => {
    const stores = await rig.open();
    await stores.requests.create(pendingRequest());
    await rig.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    const calls = [stores.requests.create(pendingRequest()), stores.requests.get(pendingRequest().requestId)];
    expect(await Promise.all(calls.map((call) => outcomeOf(Promise.resolve(call))))).toEqual(['done', 'done']);
    const bad = { ...pendingRequest(), chainName: 'a\u0000b' } satisfies StoredRequest;
    const orders = [pendingRequest(), bad, pendingRequest()].map((one) => outcomeOf(stores.requests.create(one)));
    expect(await Promise.all(orders)).toEqual(['done', 'unavailable', 'done']);
  });

  test.each([
    // What the server says when it cannot extend a file.
    ['a disk that is full', "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'"],
    ['a statement that takes longer than it may', 'PERFORM pg_sleep(20); RETURN NULL'],
  ])('%s is 503, and nothing is half stored', async (_, fault) => {
    const stores = await rig.open();
    await rig.query(`
      CREATE OR REPLACE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${fault}; END $$;
      CREATE TRIGGER fault BEFORE INSERT ON ${TABLE} FOR EACH STATEMENT EXECUTE FUNCTION fault()`);
    const record = pendingRequest();
    expect(await outcomeOf(stores.requests.create(record))).toBe('unavailable');
    await rig.query(`DROP TRIGGER fault ON ${TABLE}`);
    expect(await stores.requests.get(record.requestId)).toBeUndefined();
    expect(await outcomeOf(stores.requests.create(record))).toBe('done');
    expect(
      (await stores.admin.readStats(START)).chains.find(({ chainName }) => chainName === record.chainName),
    ).toMatchObject({ pending: 1 });
  });
});

// Shows STORE-10.
test('old records are removed, those that are claimed or were given back are not', async () => {
  const own = await createPostgresRig();
  const first = await own.open();
  const [old, claimed, released, ended, young] = [0, 0, 0, 0, 50].map((days) =>
    pendingRequest({ createdAt: START + days * 86_400_000 }),
  ) as [StoredRequest, StoredRequest, StoredRequest, StoredRequest, StoredRequest];
  for (const record of [old, claimed, released, ended, young]) await first.requests.create(record);
  const relayer = anyAddress();
  for (const record of [claimed, released, ended]) await first.requests.claim(claimOf(record, { relayer }));
  await first.requests.release({ requestId: released.requestId, relayer, releaseId: 'r', now: START + 2000 });
  await first.requests.report(reportOf(ended, { relayer }));
  const now = () => START + 60 * 86_400_000;
  const stores = await openPostgresStores({
    ...{ url: own.url, poolSize: 2, tables: TEST_TABLES },
    ...{ requestRetentionDays: 30, pendingRetentionDays: 30, now },
  });
  await stores.sweep();
  const found = [];
  for (const record of [old, claimed, released, ended, young])
    found.push((await stores.requests.get(record.requestId))?.status);
  expect(found).toEqual([undefined, 'processing', 'pending', undefined, 'pending']);
  await stores.close();
  await own.close();
});
