import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createCommits } from './createCommits.ts';

const LARGE = 'x'.repeat(100_000);

let path: string;
let database: DatabaseSync;
beforeEach(() => {
  const dir = mkdtempSync(join(tmpdir(), 'prism-commits-'));
  path = join(dir, 'a.db');
  database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE notes (text TEXT)');
  onTestFinished(() => {
    database.close();
    rmSync(dir, { recursive: true });
  });
});

const add = (text: string) => () => void database.prepare('INSERT INTO notes VALUES (?)').run(text);
const list = (from: DatabaseSync) =>
  from
    .prepare('SELECT text FROM notes')
    .all()
    .map(({ text }) => text);
function readDisk(): readonly unknown[] {
  const other = new DatabaseSync(path, { readOnly: true });
  try {
    return list(other);
  } finally {
    other.close();
  }
}

test('what was written is seen at once, and on the disk a moment later', async () => {
  const { write } = createCommits(database);
  write(add('a'));
  write(add('b'));
  expect([list(database), readDisk()]).toEqual([['a', 'b'], []]);
  await expect.poll(readDisk).toEqual(['a', 'b']);
});

test('work that finds no room is undone whole, and takes nothing from what was written before', () => {
  const { write, writeNow, commit, isFailing } = createCommits(database);
  write(add('a'));
  database.exec('PRAGMA max_page_count = 10');
  const work = () => {
    add('b')();
    add(LARGE)();
  };
  expect(() => write(work)).toThrow(/full/);
  expect(() => writeNow(work)).toThrow(/full/);
  expect([isFailing(), list(database)]).toEqual([true, ['a']]);
  commit();
  expect([isFailing(), readDisk()]).toEqual([false, ['a']]);
});

test('a commit that fails keeps what was written, and is tried again; what had to be on the disk at once is undone', async () => {
  const { write, writeNow, commit, isFailing } = createCommits(database);
  const { exec } = database;
  // As a full disk does it: the commit fails, and SQLite rolls the transaction back.
  const failing = (sql: string) => {
    exec.call(database, sql === 'COMMIT' ? 'ROLLBACK' : sql);
    if (sql === 'COMMIT') throw new Error('database or disk is full');
  };
  write(add('a'));
  database.exec = failing;
  expect(commit).toThrow('full');
  expect([isFailing(), list(database), readDisk()]).toEqual([true, ['a'], []]);
  expect(() => writeNow(add('now'))).toThrow('full');
  write(add('b'));
  expect(list(database)).toEqual(['a', 'b']);
  database.exec = exec;
  await expect.poll(readDisk, { timeout: 20_000 }).toEqual(['a', 'b']);
  expect(isFailing()).toBe(false);
});
