import { DatabaseSync } from 'node:sqlite';

/** How long a process waits for another one's commit, in milliseconds. */
export const BUSY_TIMEOUT_MS = 5000;

/**
 * Pages in the write-ahead log (4 kB each) that start a checkpoint. Pages of the indexes on random keys are written again and again until
 * then: with 2,000 the writer takes a fifth longer for each request.
 */
const CHECKPOINT_PAGES = 8000;

/** Pause before another try, in milliseconds. */
const RETRY_AFTER_MS = 5;

const isLocked = (error: unknown) => error instanceof Error && 'errcode' in error && error.errcode === 5;

/**
 * Turns the write-ahead log on. If several processes do so in the same moment, SQLite refuses some of them at once, whatever
 * the timeout: to wait might be to wait for one another.
 */
function enterWal(database: DatabaseSync): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; ; waitedMs += RETRY_AFTER_MS) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isLocked(error) || waitedMs >= BUSY_TIMEOUT_MS) throw error;
      Atomics.wait(pause, 0, 0, RETRY_AFTER_MS);
    }
  }
}

/**
 * Opens the file with what makes an answer a promise: a write-ahead log that is on the disk before a commit returns.
 *
 * @see https://sqlite.org/pragma.html#pragma_synchronous
 */
export function openDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  // A new file can give back the space of what is removed; an old one would have to be written anew.
  if (database.prepare('PRAGMA page_count').get()?.page_count === 0) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  enterWal(database);
  database.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA temp_store = MEMORY;
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
    PRAGMA journal_size_limit = 67108864;
  `);
  return database;
}
