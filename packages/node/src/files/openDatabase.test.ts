import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from './openDatabase.ts';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'open-database-'));
});

afterAll(() => rmSync(dir, { recursive: true }));

test('a folder that is moved away, or replaced by a copy, takes no more writes until it is back', () => {
  const [folder, away] = [join(dir, 'data'), join(dir, 'away')];
  mkdirSync(folder);
  const file = join(folder, 'a.db');
  const database = openDatabase(file, { timeout: 100 });
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER)');
  const insert = database.prepare('INSERT INTO t VALUES (?)');
  const count = database.prepare('SELECT count(*) AS n FROM t');
  expect(insert.run(1).changes).toBe(1);
  renameSync(folder, away);
  expect(() => insert.run(2)).toThrow(`${file} is not the file that this process has opened`);
  expect(() => database.exec('BEGIN IMMEDIATE')).toThrow(expect.objectContaining({ code: 'FILE_GONE' }));
  expect(database.isTransaction).toBe(false);
  mkdirSync(folder);
  openDatabase(file).close();
  expect(() => insert.run(3)).toThrow(expect.objectContaining({ code: 'FILE_GONE' }));
  expect(count.get()).toEqual({ n: 1 });
  rmSync(folder, { recursive: true });
  renameSync(away, folder);
  expect(insert.run(4).changes).toBe(1);
  database.close();
});
