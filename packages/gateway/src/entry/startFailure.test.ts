import { SettingsError } from '@prism-gateway/node/settings';
import { expect, test } from 'vitest';
import { describeStartFailure } from './startFailure.ts';

const where = { address: '127.0.0.1:8787', dataDir: '/srv/data' };
const systemError = (code: string) => Object.assign(new Error(`${code}: it did not go`), { code });

test.each([
  ['EADDRINUSE', /^127\.0\.0\.1:8787 is in use: stop what listens there, or set PORT to another port\. \(EADDRINUSE/],
  ['EADDRNOTAVAIL', /^127\.0\.0\.1:8787 is not an address of this machine: set HOST/],
  ['ENOTFOUND', /^127\.0\.0\.1:8787 is not an address of this machine: set HOST/],
  ['EACCES', /^No permission for DATA_DIR \/srv\/data: set DATA_DIR/],
  ...['EROFS', 'ENOENT', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'EPERM', 'ENOTDIR', 'EEXIST'].map(
    (code): [string, RegExp] => [code, /DATA_DIR \/srv\/data .*: set DATA_DIR to .*\. \(/],
  ),
  ['ENOSPC', /^The disk of DATA_DIR \/srv\/data is full\./],
  ['ERR_SQLITE_ERROR', /^The database in DATA_DIR \/srv\/data cannot be opened or written\./],
])('%s is reported with what to do about it', (code, sentence) => {
  expect(describeStartFailure(systemError(code), where)).toMatch(sentence);
});

test.each([
  [13, 'database or disk is full'],
  [4874, 'disk I/O error'],
])('a disk that SQLite finds full with code %i is reported as that', (errcode, message) => {
  const error = Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });
  expect(describeStartFailure(error, where)).toBe(`The disk of DATA_DIR /srv/data is full. (${message})`);
});

test('a port that needs permission is reported as that', () => {
  const error = Object.assign(systemError('EACCES'), { syscall: 'listen' });
  expect(describeStartFailure(error, where)).toMatch(/^No permission to listen on 127\.0\.0\.1:8787: set PORT/);
});

test('what explains itself is reported as it is', () => {
  expect(describeStartFailure(new SettingsError(['PORT: expected a number']), where)).toBe(
    'Bad setting: PORT: expected a number',
  );
  expect(describeStartFailure(new Error('secrets.json is damaged.'), where)).toBe('secrets.json is damaged.');
  expect(describeStartFailure(systemError('EOTHER'), where)).toBe('EOTHER: it did not go');
  expect(describeStartFailure('a text', where)).toBe('a text');
});
