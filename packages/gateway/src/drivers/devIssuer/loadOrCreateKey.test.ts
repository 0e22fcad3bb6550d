import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKeyFile, loadOrCreateKey } from './loadOrCreateKey.ts';

let parent: string;
let directory: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'dev-key-'));
  directory = join(parent, 'identity');
});
afterEach(() => rm(parent, { recursive: true }));

test('makes a key that only its owner can read, and leaves nothing else behind', async () => {
  await loadOrCreateKey(directory);
  expect((await stat(join(directory, 'key.json'))).mode & 0o777).toBe(0o600);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect(await readdir(directory)).toEqual(['key.json']);
});

test('many at once end up with one key', async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, () => loadOrCreateKey(directory)));
  expect(new Set(keys.map(({ kid }) => kid)).size).toBe(1);
  expect((await loadOrCreateKey(directory)).kid).toBe(keys[0]?.kid);
});

test('a key that is there is never replaced', async () => {
  const { kid } = await loadOrCreateKey(directory);
  await createKeyFile(join(directory, 'key.json'));
  expect((await loadOrCreateKey(directory)).kid).toBe(kid);
  expect(await readdir(directory)).toEqual(['key.json']);
});

test.each([
  ['', 'empty'],
  ['{}', 'no key'],
  ['{"kty":"oct","k":"AA"}', 'symmetric'],
])('a file that holds %j is named, and left alone', async (content) => {
  await loadOrCreateKey(directory);
  const path = join(directory, 'key.json');
  await writeFile(path, content);
  await expect(loadOrCreateKey(directory)).rejects.toThrow(`The development key ${path} cannot be used; delete it`);
  expect(await readFile(path, 'utf8')).toBe(content);
});

test('a public key alone is no signing key', async () => {
  const { publicJwk } = await loadOrCreateKey(directory);
  await writeFile(join(directory, 'key.json'), JSON.stringify(publicJwk));
  await expect(loadOrCreateKey(directory)).rejects.toThrow('cannot be used');
});
