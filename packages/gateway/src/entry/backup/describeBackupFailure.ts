import { DirectoryError } from '@prism-gateway/node';

/** Advice by the system's code. */
const advice: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free some space, or choose another place.',
  EACCES: 'No permission: run it as the user who runs the gateway.',
  EPERM: 'No permission: run it as the user who runs the gateway.',
  EROFS: 'The place cannot be written: choose another one.',
  ENOENT: 'The folder is not there and cannot be made: choose another place.',
  ENOTDIR: 'The place is a file: give a folder.',
  EEXIST: 'The place is a file: give a folder.',
};

/** SQLite's results for a disk that is full or failing. @see https://sqlite.org/rescode.html */
const DISK_RESULTS: readonly unknown[] = [10, 13];

/**
 * Says in a sentence or two why a backup or a restore failed.
 *
 * @param error - what was thrown
 */
export function describeBackupFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const isDisk = 'errcode' in error && DISK_RESULTS.includes(Number(error.errcode) & 0xff);
  const known = isDisk ? 'The disk is full, or failing: look at it, or choose another place.' : advice[code];
  if (known === undefined) return error.message;
  return `${known} (${error instanceof DirectoryError ? error.reason : error.message})`;
}
