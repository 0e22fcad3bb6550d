import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type FileLock, lockFile } from './lockFile.ts';

/**
 * Locks an account on one chain, so that two processes do not send with one key: each would use the other's nonces.
 *
 * @param directory - where the locks are, made when it is missing; only processes that share it keep out of each other's way
 * @param key.chainId - the chain's id
 * @param key.address - the account's, in any letter case
 * @returns the lock
 * @throws LockHeldError `LOCK_HELD`; Error of the file system
 */
export function lockKey(directory: string, key: { readonly chainId: number; readonly address: string }): FileLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return lockFile(join(directory, `${key.chainId}-${key.address.toLowerCase()}.lock`));
}
