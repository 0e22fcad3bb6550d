import { statSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DependencyUnavailableError } from '../../ports/errors.ts';

/** Less free space than this, in bytes, is a full disk: the next few requests may not fit. */
const MIN_FREE_BYTES = 1024 * 1024;

const unavailable = (cause: unknown) => new DependencyUnavailableError('store', { cause });

/** Distinguishes a file from another under the same name. */
interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Connections stay with the file that they opened, under whatever name or none. */
const isSame = (one: FileIdentity, other: FileIdentity) => one.dev === other.dev && one.ino === other.ino;

const isAnother = (file: string) => `${file} is not the file that was opened: restart the gateway`;

/**
 * Makes the check that what is written now will be found again: some microseconds, once a transaction.
 *
 * @param file - path of a database that has just been opened
 * @returns the check; it throws if the file has been removed or replaced since
 */
export function createIdentityCheck(file: string): () => void {
  const opened = statSync(file, { bigint: true });
  return function assertSameFile() {
    if (!isSame(statSync(file, { bigint: true }), opened)) throw new Error(isAnother(file));
  };
}

/** Finds faults that a write without changes does not show: a full disk, or a file that others do not find. */
async function findFault(file: string, opened: FileIdentity): Promise<string | null> {
  if (!isSame(await stat(file, { bigint: true }), opened)) return isAnother(file);
  const { bavail, bsize } = await statfs(dirname(file));
  return bavail * bsize < MIN_FREE_BYTES ? `the disk of ${dirname(file)} is full` : null;
}

/**
 * Makes the check that a database can be relied on beyond reading and writing it.
 *
 * @param file - path of a database that has just been opened
 * @returns the check; it throws DependencyUnavailableError if the file has been removed or replaced since, or its disk is full
 */
export function createFileCheck(file: string): () => Promise<void> {
  const opened = statSync(file, { bigint: true });
  return async function checkFile() {
    const fault = await findFault(file, opened).catch((cause: unknown) => {
      throw unavailable(cause);
    });
    if (fault !== null) throw unavailable(new Error(fault));
  };
}
