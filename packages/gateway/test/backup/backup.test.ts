import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { lockFile } from '@prism-gateway/node';
import type { RunningGateway } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGatewayClient, type GatewayClient } from '../rigs/gatewayClient.ts';
import { writeRequestBody } from '../rigs/writeRequestBody.ts';
import {
  backUp,
  copyStopped,
  inRoot,
  programs,
  readRequestIds,
  restore,
  start,
  useRoot,
  writeObject,
} from './backupRig.ts';
import { type CommandEnd, callBackup, runBackup } from './runBackup.ts';

const CLIENTS = sized({ small: 2, long: 8 });

let client: GatewayClient;
beforeEach(() => {
  client = createGatewayClient(CLIENTS);
});
afterEach(() => client.close());
useRoot();

async function submit({ url }: RunningGateway): Promise<string> {
  const answer = await client.call(url, { method: 'POST', path: '/requests', json: writeRequestBody() });
  expect(answer.status).toBe(201);
  return JSON.parse(answer.text).requestId;
}

/** Submits without a pause, over several connections, until it is stopped. */
function startLoad(gateway: RunningGateway) {
  const acknowledged: string[] = [];
  let isOver = false;
  const lanes = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) acknowledged.push(await submit(gateway));
  });
  return {
    acknowledged,
    async stop() {
      isOver = true;
      await Promise.all(lanes);
    },
  };
}

// Shows BACKUP-1, BACKUP-3.
test('a backup under load has every record acknowledged before it began', async () => {
  const gateway = await start('old');
  // The development issuer makes its key when it is first asked for a token.
  const token = { method: 'POST', path: '/dev/identity/token', json: { sub: 'alice' } } as const;
  expect(await client.call(gateway.url, token)).toMatchObject({ status: 200 });
  const object = writeObject(inRoot('old'), randomBytes(10_000));
  const load = startLoad(gateway);
  await expect.poll(() => load.acknowledged.length).toBeGreaterThan(sized({ small: 50, long: 50_000 }));
  const before = [...load.acknowledged];
  await programs.backUp(inRoot('old'), [inRoot('backups')]);
  // It ended while writes went on.
  const during = load.acknowledged.length;
  await expect.poll(() => load.acknowledged.length).toBeGreaterThan(during);
  await load.stop();

  expect(await programs.restore(inRoot('new'), [inRoot('backups')])).toMatchObject({ code: 0 });
  const restored = await start('new');
  for (const requestId of before) {
    const { status } = await client.call(restored.url, { method: 'GET', path: `/requests/${requestId}` });
    expect(status).toBe(200);
  }
  const same = (path: string) =>
    expect(readFileSync(join(inRoot('new'), path))).toEqual(readFileSync(join(inRoot('old'), path)));
  for (const path of [join('identity', 'key.json'), object]) same(path);
  // Cursors of before stand behind what is pending again.
  const [old, now] = ['old', 'new'].map((name) => JSON.parse(readFileSync(join(inRoot(name), 'secrets.json'), 'utf8')));
  expect(now).toEqual({ ...old, cursorKey: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(now.cursorKey).not.toBe(old.cursorKey);
  expect(await submit(restored)).toBeTypeOf('string');
});

// Shows BACKUP-2.
test('a second backup copies only what is new of the objects, and each restores by itself', async () => {
  const gateway = await start('old');
  const dataDir = inRoot('old');
  const [first, second] = [randomBytes(5000), randomBytes(300)];
  const firstPath = writeObject(dataDir, first);
  const one = await backUp(dataDir, [inRoot('backups')]);
  expect(one).toMatchObject({ newObjectBytes: 5000, objects: { count: 1, bytes: 5000 } });
  const secondPath = writeObject(dataDir, second);
  await submit(gateway);
  expect(await backUp(dataDir, [inRoot('backups')])).toMatchObject({ newObjectBytes: 300, objects: { count: 2 } });
  rmSync(join(dataDir, firstPath));
  expect(await backUp(dataDir, [inRoot('backups')])).toMatchObject({ newObjectBytes: 0, objects: { count: 1 } });

  expect(await restore(inRoot('newest'), [inRoot('backups')])).toMatchObject({ code: 0 });
  expect(readFileSync(join(inRoot('newest'), secondPath))).toEqual(second);
  expect(readdirSync(dirname(join(inRoot('newest'), secondPath)))).toHaveLength(1);
  expect(await restore(inRoot('oldest'), [inRoot('backups'), '--backup', one.name])).toMatchObject({ code: 0 });
  expect(readFileSync(join(inRoot('oldest'), firstPath))).toEqual(first);
});

// Shows BACKUP-2.
test('the newest backups are kept, and the one just made though its clock was behind', async () => {
  copyStopped();
  const object = writeObject(inRoot('old'), randomBytes(100));
  const backups = join(inRoot('backups'), 'backups');
  const names: string[] = [];
  for (let n = 0; n < 4; n++) names.push((await backUp(inRoot('old'), [inRoot('backups')])).name);
  renameSync(join(backups, names[3] ?? ''), join(backups, '2999-01-01T00-00-00-000Z-0000'));
  // What a killed one was about to remove.
  mkdirSync(join(inRoot('backups'), '.removed', 'objects'), { recursive: true });
  const { name, removed } = await backUp(inRoot('old'), [inRoot('backups'), '--keep', '2']);
  expect(removed).toBe(3);
  expect(readdirSync(backups).sort()).toEqual([name, '2999-01-01T00-00-00-000Z-0000']);
  expect(readdirSync(inRoot('backups')).sort()).toEqual(['.lock', 'backups']);
  expect(await restore(inRoot('new'), [inRoot('backups'), '--backup', name])).toMatchObject({ code: 0 });
  expect(readFileSync(join(inRoot('new'), object))).toEqual(readFileSync(join(inRoot('old'), object)));
});

// Shows BACKUP-2.
test('the backups of a lost gateway stay when an empty one takes its place, until it is restored', async () => {
  copyStopped();
  const { name } = await backUp(inRoot('old'), [inRoot('backups')]);
  await (await start('empty')).stop();
  const env = { DATA_DIR: inRoot('empty') };
  const refused = await callBackup('backup', { args: [inRoot('backups'), '--keep', '1'], env });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^No backup was made\..*of other data/) });
  expect((await restore(inRoot('new'), [inRoot('backups'), '--list'])).stdout.trim()).toBe(name);
  expect(await restore(inRoot('new'), [inRoot('backups')])).toMatchObject({ code: 0 });
  expect(await backUp(inRoot('new'), [inRoot('backups'), '--keep', '1'])).toMatchObject({ removed: 1 });
});

// Shows BACKUP-2.
test('what a killed backup leaves harms neither those before nor those after', async () => {
  const gateway = await start('old');
  const requestId = await submit(gateway);
  const { name } = await backUp(inRoot('old'), [inRoot('backups')]);
  // As far as one may have come: all but the manifest, and files on their way.
  mkdirSync(join(inRoot('backups'), 'backups', '9999-unfinished'));
  writeFileSync(join(inRoot('backups'), 'backups', '9999-unfinished', 'gateway-dev.db'), 'half');
  mkdirSync(join(inRoot('backups'), '.work'), { recursive: true });
  writeFileSync(join(inRoot('backups'), '.work', 'gateway-dev.db'), 'half');

  const listed = await restore(inRoot('new'), [inRoot('backups'), '--list']);
  expect(listed.stdout.trim()).toBe(name);
  expect(await restore(inRoot('new'), [inRoot('backups')])).toMatchObject({ code: 0 });
  expect(readRequestIds(inRoot('new'))).toEqual([requestId]);
  await backUp(inRoot('old'), [inRoot('backups')]);
});

// Shows BACKUP-1.
test('a disk that takes only a part of the copy makes no backup that lacks what was in the log', async () => {
  const dataDir = inRoot('old');
  mkdirSync(dataDir);
  const database = new DatabaseSync(join(dataDir, 'gateway-dev.db'));
  database.exec(
    'PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE schema_versions (store, version)',
  );
  database.exec('CREATE TABLE t (filler)');
  const write = database.prepare('INSERT INTO t VALUES (hex(randomblob(4000)))');
  for (let n = 0; n < 100; n++) write.run();
  try {
    // In kB: less than the database. A write beyond it is cut short, as on a full disk.
    const command = `ulimit -f 300 && exec "$0" "$@"`;
    const entry = join(import.meta.dirname, '../../src/entry/backup.ts');
    const ended = spawnSync('bash', ['-c', command, process.execPath, entry, inRoot('backups')], {
      env: { ...process.env, DATA_DIR: dataDir },
      encoding: 'utf8',
    });
    expect(ended).toMatchObject({ status: 1, stderr: expect.stringMatching(/^No backup was made\./m) });
    expect((await restore(inRoot('new'), [inRoot('backups'), '--list'])).stdout).toMatch(/There is no backup/);
  } finally {
    database.close();
  }
});

// Shows BACKUP-4.
test('what cannot be backed up or restored is reported in one sentence, and changes nothing', async () => {
  const [dataDir, backups] = [inRoot('old'), inRoot('backups')];
  const reported = ({ code, stderr }: CommandEnd) => {
    expect(stderr.trim().split('\n')).toHaveLength(1);
    return `${code} ${stderr}`;
  };
  const refusal = async (command: 'backup' | 'restore', args: readonly string[], env: Record<string, string>) =>
    reported(await callBackup(command, { args, env }));
  expect(await refusal('backup', [backups], { DATA_DIR: dataDir })).toMatch(
    /^1 No backup was made\. There is no database/,
  );
  copyStopped();
  expect(await refusal('backup', [], { DATA_DIR: dataDir })).toMatch(/^2 Give one folder/);
  expect(await refusal('backup', [backups, '--keep', '0'], { DATA_DIR: dataDir })).toMatch(/^2 --keep: expected/);
  expect(await refusal('backup', [backups], { STORE: 'dynamodb' })).toMatch(/^1 .*point-in-time/);
  expect(await refusal('backup', [backups], { STAGE: 'production' })).toMatch(/^1 .*STAGE/);
  expect(await refusal('restore', [backups], { DATA_DIR: inRoot('new') })).toMatch(/^1 .*no complete backup/);
  await backUp(dataDir, [backups]);
  expect(await refusal('restore', [backups], { DATA_DIR: dataDir })).toMatch(/^1 .*is not empty/);
  expect(await refusal('restore', [backups], {})).toMatch(/^2 Set DATA_DIR/);
  const lock = lockFile(join(backups, '.lock'));
  const other = await runBackup('backup', { args: [backups], env: { DATA_DIR: dataDir } });
  expect(reported(other)).toMatch(/^1 .*Another backup .* is under way/);
  lock.release();
  if (process.platform === 'linux') {
    // Nobody may make a folder there. In a process of its own: a call that does not return would hold this one.
    const below = '/proc/prism/backup';
    const unmade = /^1 .*cannot be made: choose another place\. \(ENOENT: .*\/proc\/prism/;
    expect(reported(await runBackup('backup', { args: [below], env: { DATA_DIR: dataDir } }))).toMatch(unmade);
    expect(reported(await runBackup('restore', { args: [backups], env: { DATA_DIR: below } }))).toMatch(unmade);
  }
  await start('old');
});
