import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeDirectory } from './makeDirectory.ts';

const isLinux = process.platform === 'linux';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'prism-make-'));
});
afterEach(() => rmSync(root, { recursive: true }));

test('a folder is made with those above it, for its owner alone, and one that is there stays as it is', () => {
  const folder = join(root, 'a', 'b', 'c');
  makeDirectory(folder);
  expect(statSync(folder).isDirectory()).toBe(true);
  if (isLinux) expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700);
  mkdirSync(join(root, 'open'), { mode: 0o755 });
  writeFileSync(join(root, 'open', 'file'), '');
  const { mode } = statSync(join(root, 'open'));
  makeDirectory(join(root, 'open'));
  expect(statSync(join(root, 'open')).mode).toBe(mode);
  expect(existsSync(join(root, 'open', 'file'))).toBe(true);
});

test.runIf(isLinux).each([
  ['file', 'EEXIST'],
  ['file/below', 'EEXIST'],
  ['nowhere', 'EEXIST'],
  ['nowhere/below', 'EEXIST'],
  ['itself/below', 'ELOOP'],
  // Where Node's own recursive form would not return.
  ['/proc/prism', 'ENOENT'],
  ['/proc/prism/below', 'ENOENT'],
])('%s cannot be made, which is reported at once by its name and the code %s', (name, code) => {
  writeFileSync(join(root, 'file'), '');
  symlinkSync(join(root, 'gone', 'away'), join(root, 'nowhere'));
  symlinkSync(join(root, 'itself'), join(root, 'itself'));
  const folder = name.startsWith('/') ? name : join(root, name);
  const reported = {
    code,
    message: expect.stringMatching(/^The folder \S+ cannot be made: name another one\. \(E[A-Z]+: /),
  };
  expect(() => makeDirectory(folder)).toThrow(expect.objectContaining(reported));
  expect(() => makeDirectory(folder)).toThrow(`The folder ${folder} `);
});
