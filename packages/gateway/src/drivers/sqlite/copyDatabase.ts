import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';

/** Bytes that are copied before they are sent to the disk: all at once would make the gateway's own commits wait behind them. */
const STEP_BYTES = 8 * 1024 * 1024;

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

/** Bytes at the head of a write-ahead log that change when it is started anew. */
const LOG_HEADER_BYTES = 32;

/** Writes all of it. A full disk takes a part without a word, and refuses the rest only when it is asked for once more. */
async function writeAll(
  copy: FileHandle,
  { bytes, at }: { readonly bytes: Buffer; readonly at: number },
): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await copy.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

/** Copies the first bytes of a file, to the disk step by step; fewer if it ends before. */
async function copyBytes({ original, bytes }: { original: FileHandle; bytes: number }, to: string): Promise<void> {
  const copy = await open(to, 'w', 0o600);
  try {
    const step = Buffer.allocUnsafe(STEP_BYTES);
    for (let at = 0; at < bytes; ) {
      const { bytesRead } = await original.read(step, 0, Math.min(STEP_BYTES, bytes - at), at);
      if (bytesRead === 0) return;
      await writeAll(copy, { bytes: step.subarray(0, bytesRead), at });
      await copy.datasync();
      at += bytesRead;
    }
  } finally {
    await copy.close();
  }
}

async function readHeader(log: FileHandle): Promise<string> {
  const header = Buffer.alloc(LOG_HEADER_BYTES);
  await log.read(header, 0, LOG_HEADER_BYTES, 0);
  return header.toString('hex');
}

/**
 * Copies the log as far as it went when our transaction began. If all of it was in the database file by then, a writer may start it
 * anew meanwhile, once: what was copied is half of one and half of the other then, and is copied again.
 */
async function copyLog({ log, bytes }: { log: FileHandle; bytes: number }, to: string): Promise<void> {
  let before: string;
  do {
    before = await readHeader(log);
    await copyBytes({ original: log, bytes }, to);
  } while (before !== (await readHeader(log)));
}

/** Puts the copied log into the copied database, which is one file then. */
function mergeLog(copy: string): void {
  const database = new DatabaseSync(copy);
  try {
    database.exec('PRAGMA synchronous = FULL');
    const { busy } = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
    if (busy !== 0) throw new DatabaseCopyError('The copy of the database is in use by another program.');
  } finally {
    database.close();
  }
}

/**
 * Copies a database while others write to it, in time that depends on its size alone. As long as our transaction reads, a writer adds
 * to the write-ahead log, and brings nothing into the database file that was not in the log when the transaction began. So the file,
 * and of the log what was there, are together the database as it stood then, or a little later. To copy files takes half the time of
 * SQLite's own backup.
 *
 * @param context.file - path of the original
 * @param copy - path of the copy, where nothing is yet; whole and on the disk once this resolves
 * @throws DatabaseCopyError `DATABASE_COPY_FAILED`; SQLite's own errors
 * @see https://sqlite.org/wal.html#concurrency
 */
export async function copyDatabase({ file }: { readonly file: string }, copy: string): Promise<void> {
  // To open is to make one, and a copy of nothing is no backup.
  if (!existsSync(file))
    throw new DatabaseCopyError(
      `There is no database ${file}: give DATA_DIR and STAGE as the gateway has them; before its first start there is none.`,
    );
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  let original: FileHandle | undefined;
  let log: FileHandle | undefined;
  try {
    database.exec('BEGIN');
    database.prepare('SELECT 1 FROM sqlite_schema').get();
    original = await open(file, 'r');
    log = existsSync(`${file}-wal`) ? await open(`${file}-wal`, 'r') : undefined;
    const logBytes = (await log?.stat())?.size ?? 0;
    // To its end, which a writer that puts the log into it may move: all of that is in the log too.
    await copyBytes({ original, bytes: Number.MAX_SAFE_INTEGER }, copy);
    if (log !== undefined && logBytes > 0) await copyLog({ log, bytes: logBytes }, `${copy}-wal`);
    database.exec('COMMIT');
    shrinkLog(database);
  } finally {
    // Not before the transaction has ended: whoever closes a file loses all locks of the process on it.
    await original?.close();
    await log?.close();
    database.close();
  }
  mergeLog(copy);
}
