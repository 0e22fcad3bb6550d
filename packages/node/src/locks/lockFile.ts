import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDirectory } from '../files/makeDirectory.ts';

/** Another process, or another part of this one, holds a lock. */
export class LockHeldError extends Error {
  override readonly name = 'LockHeldError';
  readonly code = 'LOCK_HELD';

  /**
   * @param options.cause - the database's error
   */
  constructor(file: string, options: { readonly cause: unknown }) {
    super(`${file} is locked by another process: stop that one first.`, options);
  }
}

/** A lock that is held until it is released, or until the process ends, however it ends. */
export interface FileLock {
  /** Gives the lock back; a second call does nothing. */
  release(): void;
}

/** Locks held, so that a lock that its holder no longer names is not collected as garbage, which would release it. */
const held = new Set<DatabaseSync>();

/** Whether SQLite says that the file is in use. @see https://sqlite.org/rescode.html#busy */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}

/**
 * Takes a lock, at once or not at all. It is SQLite's exclusive lock on an empty file: the system takes it back from a process that
 * is killed, and the file may stay. All who share the lock must see one file system.
 *
 * @param file - the lock's file, made when it is missing
 * @throws LockHeldError `LOCK_HELD`; Error of node:sqlite when the file cannot be made
 * @see https://sqlite.org/lockingv3.html
 */
export function lockFile(file: string): FileLock {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) throw new LockHeldError(file, { cause: error });
    throw error;
  }
  held.add(database);
  return {
    release() {
      held.delete(database);
      if (database.isOpen) database.close();
    },
  };
}

/**
 * Locks an account on one chain, so that two processes do not send with one key: each would use the other's nonces.
 *
 * @param directory - where the locks are, made when it is missing; only processes that share it keep out of each other's way
 * @param key.chainId - the chain's id
 * @param key.address - the account's, in any letter case
 * @throws LockHeldError `LOCK_HELD`; DirectoryError
 */
export function lockKey(directory: string, key: { readonly chainId: number; readonly address: string }): FileLock {
  makeDirectory(directory);
  return lockFile(join(directory, `${key.chainId}-${key.address.toLowerCase()}.lock`));
}
