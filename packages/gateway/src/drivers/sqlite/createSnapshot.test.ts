import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSnapshot } from './createSnapshot.ts';
import { openDatabase } from './openDatabase.ts';

let directory: string;
let reader: ReturnType<typeof openDatabase>;
let writer: ReturnType<typeof openDatabase>;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'prism-snapshot-'));
  const file = join(directory, 'a.db');
  writer = openDatabase(file);
  writer.exec('CREATE TABLE t (n INTEGER) STRICT');
  reader = openDatabase(file);
});
afterEach(() => {
  reader.close();
  writer.close();
  rmSync(directory, { recursive: true });
});

// Shows STORE-5.
test('the reads of one turn see one state of the file, and those of the next turn see what has been committed since', async () => {
  const snapshot = createSnapshot(reader);
  const count = reader.prepare('SELECT count(*) AS n FROM t');
  const read = () => snapshot.read(() => count.get()?.n);
  await setImmediate();
  expect(read()).toBe(0);
  writer.exec('INSERT INTO t VALUES (1)');
  expect(read()).toBe(0);
  await setImmediate();
  expect(read()).toBe(1);
});

test('once ended, the next read sees what has been committed since', () => {
  const snapshot = createSnapshot(reader);
  const count = reader.prepare('SELECT count(*) AS n FROM t');
  const read = () => snapshot.read(() => count.get()?.n);
  expect(read()).toBe(0);
  writer.exec('INSERT INTO t VALUES (1)');
  snapshot.end();
  expect(read()).toBe(1);
  snapshot.end();
});

test('holds no transaction open between turns, so that the log can be written back', async () => {
  const snapshot = createSnapshot(reader);
  snapshot.read(() => reader.prepare('SELECT 1').get());
  expect(reader.isTransaction).toBe(true);
  await setImmediate();
  expect(reader.isTransaction).toBe(false);
});
