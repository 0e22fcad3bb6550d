import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Windows cannot open directories; NTFS keeps names in a journal of its own. */
const keepsNamesItself = process.platform === 'win32';

/**
 * Makes the names in a directory survive a loss of power: a new file's, or a removed one's.
 *
 * @throws Error of the file system, such as ENOENT
 * @see https://man7.org/linux/man-pages/man2/fsync.2.html
 */
export async function syncDirectory(path: string): Promise<void> {
  if (keepsNamesItself) return;
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}

/**
 * The same, for a start that blocks anyway.
 *
 * @throws Error of the file system, such as ENOENT
 */
export function syncDirectorySync(path: string): void {
  if (keepsNamesItself) return;
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
