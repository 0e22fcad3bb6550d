import { closeSync, existsSync, fdatasyncSync, openSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';

/** Pages (4 kB each) copied before the copy's process looks at anything else: 16 MB. */
const STEP_PAGES = 4096;

/** Longest wait for a lock of the original, in milliseconds. */
const BUSY_TIMEOUT_MS = 5000;

/** What is in the write-ahead log when the copy is made must be put back in few passes, or writers are left to do so. */
const MAX_CHECKPOINTS = 4;

/** A copy that SQLite itself finds faults in, or an original that is not there. */
export class DatabaseCopyError extends Error {
  override readonly name = 'DatabaseCopyError';
  readonly code = 'DATABASE_COPY_FAILED';
}

/**
 * Puts what was written meanwhile from the log into the database. Left to the gateway, one write would wait for all of it.
 */
function shrinkLog(database: DatabaseSync): void {
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  for (let pass = 0; pass < MAX_CHECKPOINTS; pass++) {
    const { log, checkpointed } = checkpoint.get() ?? {};
    if (log === checkpointed) return;
  }
}

/**
 * Reads a database's tables from end to end.
 *
 * @param file - path of a database that nobody writes to
 * @throws DatabaseCopyError `DATABASE_COPY_FAILED` with SQLite's first finding
 * @see https://sqlite.org/pragma.html#pragma_quick_check
 */
export function verifyDatabase(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const finding = String(database.prepare('PRAGMA quick_check(1)').get()?.quick_check);
    if (finding !== 'ok') throw new DatabaseCopyError(`The copy of the database is damaged: ${finding}.`);
  } finally {
    database.close();
  }
}

/**
 * Copies a database while others write to it, in time that depends on its size alone. The copy is the database as it stands when
 * this begins. It reads within one transaction, which in the form with a write-ahead log holds up nobody, and which no write of others
 * makes begin again; a copy without it begins again with each write.
 *
 * @param context.file - path of the original
 * @param copy - path of the copy, where nothing is yet; whole and on the disk once this resolves
 * @throws DatabaseCopyError `DATABASE_COPY_FAILED`; SQLite's own errors
 * @see https://sqlite.org/c3ref/backup_finish.html
 */
export async function copyDatabase({ file }: { readonly file: string }, copy: string): Promise<void> {
  // To open is to make one, and a copy of nothing is no backup.
  if (!existsSync(file))
    throw new DatabaseCopyError(`There is no database ${file}: nothing has been stored there yet.`);
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  const descriptor = openSync(copy, 'wx', 0o600);
  try {
    database.exec('BEGIN');
    database.prepare('SELECT 1 FROM sqlite_schema').get();
    // To the disk step by step: all of it at once would make the gateway's own commits wait behind it.
    await backup(database, copy, { rate: STEP_PAGES, progress: () => fdatasyncSync(descriptor) });
    fdatasyncSync(descriptor);
    database.exec('COMMIT');
    shrinkLog(database);
  } finally {
    closeSync(descriptor);
    database.close();
  }
}
