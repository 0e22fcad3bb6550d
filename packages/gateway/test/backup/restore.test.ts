import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile } from '@prism-gateway/node';
import { expect, test } from 'vitest';
import { runServer } from '../process/runServer.ts';
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

useRoot();

// Shows BACKUP-3, BACKUP-4.
test('a damaged backup is refused, a gateway does not start on what was fetched of it, and another one mends the folder', async () => {
  copyStopped();
  const good = await backUp(inRoot('old'), [inRoot('backups')]);
  const bad = await backUp(inRoot('old'), [inRoot('backups')]);
  const file = join(inRoot('backups'), 'backups', bad.name, 'secrets.json');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/[0-9]/, (digit) => (digit === '1' ? '2' : '1')),
  );

  const refused = await restore(inRoot('new'), [inRoot('backups')]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Nothing was restored\..*secrets\.json.*hash/),
  });
  const started = await runServer({ DATA_DIR: inRoot('new'), PORT: '0' });
  expect(started).toMatchObject({ code: 1, stderr: expect.stringMatching(/restore into DATA_DIR .* has not ended/) });
  expect(await restore(inRoot('new'), [inRoot('backups'), '--backup', good.name])).toMatchObject({ code: 0 });
  await start('new');
});

// Shows BACKUP-3.
test('a backup that somebody has changed writes nowhere else, fills no disk, and does not act upon a terminal', async () => {
  copyStopped();
  const object = writeObject(inRoot('old'), randomBytes(100));
  const { name, objects } = await backUp(inRoot('old'), [inRoot('backups')]);
  const inBackup = (path: string) => join(inRoot('backups'), 'backups', name, path);
  const manifest = readFileSync(inBackup('manifest.json'), 'utf8');
  const refusal = async () => {
    const { code, stderr } = await restore(inRoot('new'), [inRoot('backups')]);
    expect(code).toBe(1);
    return stderr;
  };
  for (const path of ['../out', 'a/../../out', inRoot('out'), '.restoring/out', 'a//out', 'a\\..\\out']) {
    writeFileSync(inBackup('manifest.json'), manifest.replace('"secrets.json"', JSON.stringify(path)));
    expect([path, await refusal()]).toEqual([path, expect.stringMatching(/manifest .* is damaged/)]);
  }
  writeFileSync(inBackup('manifest.json'), manifest.replace(name, '\\u001b[2J'));
  expect(await refusal()).toMatch(/manifest .* is damaged/);
  writeFileSync(inBackup('manifest.json'), manifest);
  expect(existsSync(inRoot('out'))).toBe(false);

  // One byte of an object's path: its content is whole, and another place would get it.
  const list = readFileSync(inBackup('objects.jsonl'), 'utf8');
  writeFileSync(inBackup('objects.jsonl'), list.replace('v1/a', 'v1/b'));
  expect(await refusal()).toMatch(/objects\.jsonl .* hash differs/);
  writeFileSync(inBackup('objects.jsonl'), list);

  rmSync(inBackup('secrets.json'));
  symlinkSync('/dev/zero', inBackup('secrets.json'));
  expect(await refusal()).toMatch(/secrets\.json .* hash differs/);
  rmSync(inBackup('secrets.json'));
  writeFileSync(inBackup('secrets.json'), readFileSync(join(inRoot('old'), 'secrets.json')));

  const evil = join(inRoot('backups'), 'backups', '\u001b[2J');
  mkdirSync(evil);
  writeFileSync(join(evil, 'manifest.json'), manifest);
  expect((await restore(inRoot('new'), [inRoot('backups'), '--list'])).stdout).toBe(`${name}\n`);
  expect(await restore(inRoot('new'), [inRoot('backups')])).toMatchObject({ code: 0 });
  expect(objects.count).toBe(1);
  expect(
    readdirSync(inRoot('new')).filter((entry) => !/^(gateway-dev\.db|objects$|secrets\.json$)/.test(entry)),
  ).toEqual([]);
  expect(readFileSync(join(inRoot('new'), object))).toEqual(readFileSync(join(inRoot('old'), object)));
});

// Shows BACKUP-4.
test('a second restore into the same folder is refused, and takes nothing from the first', async () => {
  copyStopped();
  await backUp(inRoot('old'), [inRoot('backups')]);
  const work = join(inRoot('new'), '.restoring');
  mkdirSync(work, { recursive: true });
  writeFileSync(join(work, 'secrets.json'), 'of the first');
  const lock = lockFile(join(work, '.lock'));
  const second = await programs.restore(inRoot('new'), [inRoot('backups')]);
  expect(second).toMatchObject({ code: 1, stderr: expect.stringMatching(/Another restore .* is under way/) });
  expect(readFileSync(join(work, 'secrets.json'), 'utf8')).toBe('of the first');
  // As one that was killed leaves it.
  lock.release();
  expect(await restore(inRoot('new'), [inRoot('backups')])).toMatchObject({ code: 0 });
  expect(existsSync(work)).toBe(false);
  expect(readRequestIds(inRoot('new'))).toEqual([]);
});
