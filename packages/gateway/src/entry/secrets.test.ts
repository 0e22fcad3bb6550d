import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sized } from '@prism-gateway/testing/test-size';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { recordSyncs } from '../../test/rigs/recordSyncs.ts';
import { loadLocalSecrets } from './secrets.ts';

const run = promisify(execFile);
const MODULE = new URL('./secrets.ts', import.meta.url).href;
const PROCESSES = sized({ small: 6, long: 20 });

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'prism-secrets-'));
});
afterEach(() => rm(root, { recursive: true }));

const fileIn = (directory: string) => join(directory, 'secrets.json');

test('are made once, with the directory, for their owner alone, and then stay', async () => {
  const directory = join(root, 'a', 'b');
  const first = loadLocalSecrets(directory);
  expect(loadLocalSecrets(directory)).toEqual(first);
  expect([first.objectSigningKey.length, first.cursorKey.length, first.devAppSecret.length]).toEqual([32, 32, 64]);
  expect(new Set([first.objectSigningKey, first.cursorKey].map((key) => Buffer.from(key).toString('hex'))).size).toBe(
    2,
  );
  expect((await stat(fileIn(directory))).mode & 0o777).toBe(0o600);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect(loadLocalSecrets(join(root, 'c'))).not.toEqual(first);
});

test('the names of directories that are made are made durable too, once', () => {
  const directory = join(root, 'a', 'b');
  const syncs = recordSyncs();
  try {
    loadLocalSecrets(directory);
    expect(syncs.paths).toEqual(expect.arrayContaining([root, join(root, 'a'), directory]));
    const before = syncs.paths.length;
    loadLocalSecrets(directory);
    expect(syncs.paths).toHaveLength(before);
  } finally {
    syncs.stop();
  }
});

test(`${PROCESSES} processes that start at once agree, and leave no draft behind`, async () => {
  const directory = join(root, 'shared');
  const script = `import { loadLocalSecrets } from ${JSON.stringify(MODULE)};
    console.log(JSON.stringify(loadLocalSecrets(${JSON.stringify(directory)})))`;
  const args = ['--input-type=module-typescript', '-e', script];
  const processes = await Promise.all(Array.from({ length: PROCESSES }, () => run(process.execPath, args)));
  expect(new Set(processes.map(({ stdout }) => stdout)).size).toBe(1);
  expect(await readdir(directory)).toEqual(['secrets.json']);
});

describe('a damaged file is refused by its name and kept:', () => {
  const good = '"cursorKey":"'.concat('ab'.repeat(32), '","devAppSecret":"', 'cd'.repeat(32), '"');
  test.each([
    ['empty', ''],
    ['half written', '{"objectSigningKey":"ab'],
    ['no object', 'null'],
    ['one secret is missing', `{${good}}`],
    ['one secret is short', `{${good},"objectSigningKey":"abcd"}`],
    ['one secret is no hex', `{${good},"objectSigningKey":"${'zz'.repeat(32)}"}`],
    ['one secret is no text', `{${good},"objectSigningKey":7}`],
  ])('%s', async (_, text) => {
    await writeFile(fileIn(root), text);
    expect(() => loadLocalSecrets(root)).toThrow(`${fileIn(root)} is damaged; remove it and a new one is made.`);
    expect(await readFile(fileIn(root), 'utf8')).toBe(text);
  });
});

describe('a directory that cannot be made is an error of the system, at once:', () => {
  test.each([
    ['below a file', 'EEXIST'],
    ['a link to itself', 'ELOOP'],
    ['a link to nowhere', 'EEXIST'],
    ['below /proc', 'ENOENT'],
  ])('%s', async (place, code) => {
    await writeFile(join(root, 'below a file'), '');
    await symlink(join(root, 'a link to itself'), join(root, 'a link to itself'));
    await symlink(join(root, 'gone', 'away'), join(root, 'a link to nowhere'));
    const directory = place === 'below /proc' ? '/proc/prism/data' : join(root, place);
    const below = place === 'below a file' ? join(directory, 'data') : directory;
    expect(() => loadLocalSecrets(below)).toThrow(expect.objectContaining({ code }));
  });
});
