import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { startGateway } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/drivers/sqlite/openDatabase.ts';
import { countCommits } from '../rigs/countCommits.ts';
import { createSqliteRig } from '../rigs/sqliteStores.ts';

test('a connection that writes waits for the disk at every commit', async () => {
  const rig = await createSqliteRig();
  rig.open();
  const database = openDatabase(rig.file);
  const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  // 2 is FULL.
  expect([pragma('journal_mode'), pragma('synchronous')]).toEqual(['wal', 2]);
  database.close();
  await rig.dispose();
});

/** So long a commit waits for the disk: all that are sent at once have come by then, however slow the machine. */
const SLOW_COMMIT_MS = 1500;

test('64 creations during a slow commit share the few that follow it, and all are there', async () => {
  const gateway = await startGateway();
  const file = join(gateway.dataDir, 'gateway-dev.db');
  const database = new DatabaseSync(file);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(EXAMPLE_REQUESTS.WRITE_DATA_FOR);
  const create = async () => (await fetch(`${gateway.url}/requests`, { method: 'POST', headers, body })).status;
  expect(await create()).toBe(201);
  const before = await countCommits(file);
  database.exec('BEGIN IMMEDIATE');
  const answers = Promise.all(Array.from({ length: 64 }, create));
  await sleep(SLOW_COMMIT_MS);
  database.exec('COMMIT');
  expect(new Set(await answers)).toEqual(new Set([201]));
  const commits = (await countCommits(file)) - before;
  expect(commits).toBeGreaterThanOrEqual(1);
  expect(commits).toBeLessThan(8);
  expect(database.prepare('SELECT count(*) AS records FROM "service-requests-dev"').get()).toMatchObject({
    records: 65,
  });
  database.close();
  await gateway.stop();
});
