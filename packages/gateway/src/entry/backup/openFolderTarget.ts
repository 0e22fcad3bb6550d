import { createReadStream, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type FileLock, LockHeldError, lockFile, makeDirectory, syncDirectory } from '@prism-gateway/runtime';
import { BackupError, type BackupTarget, isBackupName, manifestKey } from './backupTarget.ts';

/** What is being written lies here; leftovers of a backup that was killed are removed by the next one. */
const WORK = '.work';

function takeLock(folder: string): FileLock {
  try {
    return lockFile(join(folder, '.lock'));
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    throw new BackupError('BACKUP_REFUSED', `Another backup to ${folder} is under way; wait until it has ended.`, {
      cause: error,
    });
  }
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function openFile(path: string) {
  try {
    return await open(path, 'r');
  } catch (cause) {
    throw new BackupError('BACKUP_INCOMPLETE', `${path} cannot be read; the backup is not whole.`, { cause });
  }
}

/**
 * Keeps backups in a folder of this machine. Only its owner may read them: they hold the secrets.
 *
 * @param folder - made where it is missing
 * @param purpose - reading takes no lock, so that it is possible on a medium that cannot be written
 * @throws BackupError `BACKUP_REFUSED` while another backup writes there; DirectoryError
 */
export function openFolderTarget(folder: string, purpose: 'read' | 'write'): BackupTarget {
  const root = resolve(folder);
  const workFolder = join(root, WORK);
  let lock: FileLock | undefined;
  if (purpose === 'write') {
    makeDirectory(root);
    lock = takeLock(root);
    rmSync(workFolder, { recursive: true, force: true });
    mkdirSync(workFolder, { mode: 0o700 });
  }
  const pathOf = (key: string) => join(root, ...key.split('/'));
  return {
    place: root,
    workFolder,
    async listBackups() {
      const folders = existsSync(join(root, 'backups')) ? readdirSync(join(root, 'backups')) : [];
      return folders.filter((name) => isBackupName(name) && existsSync(pathOf(manifestKey(name)))).sort();
    },
    async findSize(key) {
      return (await stat(pathOf(key)).catch(() => undefined))?.size;
    },
    async put(key, file) {
      const path = pathOf(key);
      makeDirectory(dirname(path));
      await syncFile(file);
      await rename(file, path);
      await syncDirectory(dirname(path));
    },
    async read(key) {
      const handle = await openFile(pathOf(key));
      return createReadStream('', { fd: handle });
    },
    async close() {
      if (lock !== undefined) rmSync(workFolder, { recursive: true, force: true });
      lock?.release();
    },
  };
}
