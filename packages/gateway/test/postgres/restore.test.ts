import { appendFileSync, chmodSync, cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startEmbedded } from '../../src/drivers/postgres/startEmbedded.ts';
import { anyAddress, claimOf, pendingRequest } from '../contracts/storedRequests.ts';
import { openStoresOf } from '../rigs/postgresStores.ts';
import { TEST_TABLES } from '../rigs/sqliteStores.ts';
import { giveTo } from './startPair.ts';

const makeFolder = (name: string) => mkdtemp(join(tmpdir(), `prism-${name}-`));

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

// As https://www.postgresql.org/docs/current/continuous-archiving.html has it.
test('after a mistake the database is brought back to the moment before it, and the queue goes on', async () => {
  const [folder, restored, archive] = await Promise.all(['original', 'restored', 'archive'].map(makeFolder));
  if (folder === undefined || restored === undefined || archive === undefined) throw new Error('three folders');
  // Whoever the server runs as writes there.
  chmodSync(archive, 0o777);
  const flags = ['archive_mode=on', `archive_command=cp %p ${archive}/%f`];
  const server = await startEmbedded({ folder, flags });
  onTestFinished(() => server.stop('immediate').catch(() => undefined));
  const stores = await openStoresOf(server.url);
  const relayer = anyAddress();
  const store = async () => {
    const record = pendingRequest();
    await stores.requests.create(record);
    return record;
  };
  const early = await Promise.all(Array.from({ length: 20 }, store));

  // The base backup, under way while requests come.
  const client = await connect(server.url);
  await client.query("SELECT pg_backup_start('base', true)");
  const [, late] = await Promise.all([
    sleep(0).then(() =>
      cpSync(join(folder, 'data'), join(restored, 'data'), { recursive: true, preserveTimestamps: true }),
    ),
    Promise.all(Array.from({ length: 20 }, store)),
  ]);
  const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop()');
  const claimed = early[0];
  if (claimed === undefined) throw new Error('twenty requests');
  await stores.requests.claim(claimOf(claimed, { relayer }));
  await sleep(10);
  const moment = (await client.query('SELECT now()::text AS at')).rows[0].at;
  await sleep(10);
  await client.query(`DELETE FROM "${TEST_TABLES.requests}"`);
  expect(await stores.requests.get(claimed.requestId)).toBeUndefined();
  await client.query('SELECT pg_switch_wal()');
  await client.end();
  await stores.close();
  await server.stop();

  const data = join(restored, 'data');
  chmodSync(data, 0o700);
  rmSync(join(data, 'postmaster.pid'), { force: true });
  rmSync(join(data, 'pg_wal'), { recursive: true });
  mkdirSync(join(data, 'pg_wal'), { mode: 0o700 });
  writeFileSync(join(data, 'backup_label'), rows[0].labelfile);
  writeFileSync(join(data, 'recovery.signal'), '');
  cpSync(join(folder, 'password'), join(restored, 'password'));
  const target = `recovery_target_time = '${moment}'\nrecovery_target_action = 'promote'\n`;
  appendFileSync(join(data, 'postgresql.auto.conf'), `restore_command = 'cp ${archive}/%f %p'\n${target}`);
  const owner = statSync(join(folder, 'data'));
  if (process.getuid?.() === 0) giveTo(restored, owner);
  expect(readdirSync(archive).length).toBeGreaterThan(0);
  const again = await startEmbedded({ folder: restored });
  onTestFinished(() => again.stop('immediate').catch(() => undefined));
  const checking = await connect(again.url);
  await expect.poll(async () => (await checking.query('SELECT pg_is_in_recovery() AS is')).rows[0].is).toBe(false);
  await checking.end();

  const back = await openStoresOf(again.url);
  for (const { requestId } of [...early, ...late])
    expect((await back.requests.get(requestId))?.requestId).toBe(requestId);
  expect(await back.requests.get(claimed.requestId)).toMatchObject({ status: 'processing', claimedBy: relayer });
  // What is new is behind all that is pending again.
  const fresh = pendingRequest({ chainName: claimed.chainName });
  await back.requests.create(fresh);
  const { items } = await back.requests.feed({
    ...{ chainName: claimed.chainName, from: 'oldest', limit: 100, maxParamsBytes: 1_000_000, now: Date.now() },
  });
  expect(items.map(({ requestId }) => requestId)).toContain(fresh.requestId);
  expect((await back.requests.claim(claimOf(fresh, { relayer }))).outcome).toBe('moved');
  await back.close();
  await again.stop();
}, 120_000);
