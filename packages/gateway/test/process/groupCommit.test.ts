import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { startGateway } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/drivers/sqlite/openDatabase.ts';
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

/** Commits in a write-ahead log: frames that say how large the database is after them. @see https://sqlite.org/fileformat2.html#the_write_ahead_log */
async function countCommits(file: string): Promise<number> {
  const wal = await readFile(`${file}-wal`);
  const pageSize = wal.readUInt32BE(8);
  const salts = wal.toString('hex', 16, 24);
  let commits = 0;
  for (let at = 32; at + 24 <= wal.length; at += 24 + pageSize) {
    // Frames of an older log have other salts.
    if (wal.toString('hex', at + 8, at + 16) === salts && wal.readUInt32BE(at + 4) > 0) commits++;
  }
  return commits;
}

test('64 creations at once share commits, and all are there', async () => {
  const gateway = await startGateway();
  const file = join(gateway.dataDir, 'gateway-dev.db');
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(EXAMPLE_REQUESTS.WRITE_DATA_FOR);
  const create = () => fetch(`${gateway.url}/requests`, { method: 'POST', headers, body });
  const createAll = async () => (await Promise.all(Array.from({ length: 64 }, create))).map(({ status }) => status);
  // The first time, connections are opened one after the other.
  await createAll();
  const before = await countCommits(file);
  expect(new Set(await createAll())).toEqual(new Set([201]));
  const commits = (await countCommits(file)) - before;
  expect(commits).toBeGreaterThanOrEqual(1);
  expect(commits).toBeLessThan(32);
  const database = new DatabaseSync(file, { readOnly: true });
  expect(database.prepare('SELECT count(*) AS records FROM "service-requests-dev"').get()).toMatchObject({
    records: 128,
  });
  database.close();
  await gateway.stop();
});
