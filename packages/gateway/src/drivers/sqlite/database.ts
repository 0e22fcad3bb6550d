import { DatabaseSync } from 'node:sqlite';

/** How long a process waits for another one's commit, in milliseconds. */
const BUSY_TIMEOUT_MS = 5000;

/** Pages in the write-ahead log (4 kB each) that start a checkpoint. */
const CHECKPOINT_PAGES = 2000;

/** Memory for pages, in KiB: of each process two connections, one that reads and one that writes. */
const PAGE_CACHE_KIB = 6144;

/**
 * Opens the file with what makes an answer a promise: a write-ahead log that is on the disk before a commit returns.
 *
 * @see https://sqlite.org/pragma.html#pragma_synchronous
 */
export function openDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${PAGE_CACHE_KIB};
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
    PRAGMA journal_size_limit = 67108864;
  `);
  return database;
}
