import { existsSync, fdatasyncSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { BackupError } from './backupFolder.ts';

/** Pages copied before they are sent to the disk, 4 KiB each: all at once would make the gateway's own commits wait behind them. */
const STEP_PAGES = 2000;

/** Longest wait for a lock of the original, in milliseconds. */
const BUSY_TIMEOUT_MS = 5000;

/** Passes that bring the log back into the database after a copy: writers go on meanwhile. */
const MAX_CHECKPOINTS = 4;

/** Puts what was written meanwhile from the log into the database: left to the gateway, one write would wait for all of it. */
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
 * @throws BackupError `DATABASE_COPY_FAILED` with SQLite's first finding
 * @see https://sqlite.org/pragma.html#pragma_quick_check
 */
export function verifyDatabase(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const finding = String(database.prepare('PRAGMA quick_check(1)').get()?.quick_check);
    if (finding !== 'ok')
      throw new BackupError('DATABASE_COPY_FAILED', `The copy of the database is damaged: ${finding}.`);
  } finally {
    database.close();
  }
}

/**
 * Copies a database with SQLite's own backup while others write to it. The read transaction holds one state of it for the whole copy:
 * without it, each write of another process would make the copy begin anew.
 *
 * @param context.file - path of the original
 * @param copy - path of the copy, where nothing is yet; whole and on the disk once this resolves
 * @throws BackupError `DATABASE_COPY_FAILED` if there is no original; SQLite's own errors
 * @see https://sqlite.org/c3ref/backup_finish.html
 */
export async function copyDatabase({ file }: { readonly file: string }, copy: string): Promise<void> {
  // To open is to make one, and a copy of nothing is no backup.
  if (!existsSync(file))
    throw new BackupError(
      'DATABASE_COPY_FAILED',
      `There is no database ${file}: give DATA_DIR and STAGE as the gateway has them; before its first start there is none.`,
    );
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  const handle = await open(copy, 'wx', 0o600);
  try {
    database.exec('BEGIN');
    database.prepare('SELECT 1 FROM sqlite_schema').get();
    await backup(database, copy, { rate: STEP_PAGES, progress: () => fdatasyncSync(handle.fd) });
    database.exec('COMMIT');
    shrinkLog(database);
  } finally {
    await handle.close();
    database.close();
  }
}
