import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SenderError, type SenderErrorCode } from '../senderError.ts';

/** A lock that is held until it is let go, or until the process ends, however it ends. */
export interface Lock {
  release(): void;
}

/**
 * Takes a lock of this machine. It is SQLite's exclusive lock on an empty file: the system takes it back from a process that is
 * killed, and the file may stay.
 *
 * @param file - the lock's file, made where it is missing
 * @param held - the error for a lock that another holds
 * @returns the lock
 * @throws SenderError with the given code
 * @see https://sqlite.org/lockingv3.html
 */
export function takeLock(file: string, held: { readonly code: SenderErrorCode; readonly message: string }): Lock {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    throw new SenderError(held.code, held.message, { cause: error });
  }
  return { release: () => database.close() };
}

/**
 * Names the folder of the locks on keys that this user's processes share unless told otherwise.
 *
 * @returns its path; it exists, and nobody else can write into it
 * @throws SenderError `INVALID_ARGUMENT` where another user has made it
 */
export function defaultLockDir(): string {
  const userId = process.getuid?.() ?? 0;
  const dir = join(tmpdir(), `prism-sender-locks-${userId}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const stats = lstatSync(dir);
  if (!stats.isDirectory() || (process.getuid !== undefined && stats.uid !== userId)) {
    throw new SenderError('INVALID_ARGUMENT', 'The default folder for locks belongs to another user; set lockDir.');
  }
  chmodSync(dir, 0o700);
  return dir;
}
