import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { sized } from '@prism-gateway/testing/test-size';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyDatabase, verifyDatabase } from './copyDatabase.ts';

const ACCOUNTS = 2000;
const COPIES = sized({ small: 12, long: 300 });
/** Moves at a time: the log is put back, and started anew, after some seven. */
const BATCH = sized({ small: 10, long: 50 });
/** Between batches, in milliseconds: more moves would only give a copy that waits for the disk more to do. */
const PAUSE_MS = sized({ small: 2, long: 0 });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'prism-copy-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Moves amounts from account to account until it is ended; its log is put back, and started anew, all the time. */
const writer = `
const { DatabaseSync } = require('node:sqlite');
const { parentPort, workerData } = require('node:worker_threads');
const database = new DatabaseSync(workerData, { timeout: 5000 });
database.exec('PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 20');
const move = database.prepare('UPDATE accounts SET amount = amount + ? WHERE id = ?');
const count = database.prepare('UPDATE moves SET n = n + 1');
let number = 0;
function work() {
  for (let i = 0; i < ${BATCH}; i++) {
    number += 7;
    database.exec('BEGIN IMMEDIATE');
    move.run(1, number % ${ACCOUNTS});
    move.run(-1, (number * 31) % ${ACCOUNTS});
    count.run();
    database.exec('COMMIT');
  }
  setTimeout(work, ${PAUSE_MS});
}
parentPort.postMessage('at work');
work();
`;

function readCopy(copy: string) {
  const database = new DatabaseSync(copy, { readOnly: true });
  const { sum, n } = database.prepare('SELECT (SELECT sum(amount) FROM accounts) AS sum, n FROM moves').get() ?? {};
  database.close();
  return { sum, moves: Number(n) };
}

// Shows BACKUP-1.
test('a copy is one state of the database, however often its log is started anew meanwhile', async () => {
  const file = join(folder, 'a.db');
  const database = new DatabaseSync(file, { timeout: 5000 });
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
    CREATE TABLE accounts (id INTEGER PRIMARY KEY, amount INTEGER, filler TEXT);
    CREATE TABLE moves (n INTEGER); INSERT INTO moves VALUES (0)`);
  const insert = database.prepare('INSERT INTO accounts VALUES (?, 100, hex(randomblob(500)))');
  database.exec('BEGIN');
  for (let id = 0; id < ACCOUNTS; id++) insert.run(id);
  database.exec('COMMIT');
  const count = database.prepare('SELECT n FROM moves');
  const worker = new Worker(writer, { eval: true, workerData: file });
  await once(worker, 'message');
  try {
    for (let number = 0; number < COPIES; number++) {
      const before = Number(count.get()?.n);
      const copy = join(folder, `copy-${number}.db`);
      await copyDatabase({ file }, copy);
      verifyDatabase(copy);
      const { sum, moves } = readCopy(copy);
      expect(sum).toBe(ACCOUNTS * 100);
      expect(moves).toBeGreaterThanOrEqual(before);
    }
  } finally {
    await worker.terminate();
    database.close();
  }
});
