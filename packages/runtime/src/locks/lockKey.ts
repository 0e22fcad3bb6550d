import { join } from 'node:path';
import { makeDirectory } from '../files/makeDirectory.ts';
import { type FileLock, lockFile } from './lockFile.ts';

/**
 * Locks an account on one chain, so that two processes do not send with one key: each would use the other's nonces.
 *
 * @param directory - where the locks are, made when it is missing; only processes that share it keep out of each other's way
 * @param key.chainId - the chain's id
 * @param key.address - the account's, in any letter case
 * @returns the lock
 * @throws LockHeldError `LOCK_HELD`; DirectoryError
 */
export function lockKey(directory: string, key: { readonly chainId: number; readonly address: string }): FileLock {
  makeDirectory(directory);
  return lockFile(join(directory, `${key.chainId}-${key.address.toLowerCase()}.lock`));
}
