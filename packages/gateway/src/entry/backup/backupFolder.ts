import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type FileLock, LockHeldError, lockFile, makeDirectory, syncDirectory } from '@prism-gateway/node';

/** The backup that is being made lies here; what a killed one leaves is removed by the next one. */
const WORK = '.work';
/** A backup that is being removed lies here, likewise. */
const REMOVED = '.removed';

/** File of a backup that is written last: without it there is no backup. */
export const MANIFEST = 'manifest.json';

/** A backup or a restore that cannot be made; its message says why and what to do. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
  readonly code: 'BACKUP_INCOMPLETE' | 'BACKUP_DAMAGED' | 'BACKUP_REFUSED' | 'DATABASE_COPY_FAILED';

  /** @param message - one sentence, or two, for the person at the terminal */
  constructor(code: BackupError['code'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a folder below `backups/` may be a backup: others are not looked at, and their names never reach a terminal. */
export const isBackupName = (name: string) => /^[A-Za-z0-9][\w-]*$/.test(name);

/** Folder of one backup. @param root - the folder of all backups */
export const backupPath = (root: string, name: string) => join(root, 'backups', name);

/** @returns names of the complete backups below a folder, oldest first */
export function listBackups(root: string): readonly string[] {
  const folder = join(root, 'backups');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => isBackupName(name) && existsSync(join(folder, name, MANIFEST))).sort();
}

/** A folder of backups that nobody else writes to. */
export interface BackupFolder {
  readonly root: string;
  /** Where the new backup is put together. */
  readonly work: string;
  /** Makes what lies in `work` the backup of this name. */
  complete(name: string): Promise<void>;
  /** Removes all backups but this one and the newest others. @param keep - how many are left, at least 1 @returns how many went */
  prune(name: string, keep: number): Promise<number>;
  close(): void;
}

function takeLock(folder: string): FileLock {
  try {
    return lockFile(join(folder, '.lock'));
  } catch (cause) {
    if (!(cause instanceof LockHeldError)) throw cause;
    const sentence = `Another backup to ${folder} is under way; wait until it has ended.`;
    throw new BackupError('BACKUP_REFUSED', sentence, { cause });
  }
}

/**
 * Opens a folder to write a backup into it. Only its owner may read what is made there: backups hold the secrets.
 *
 * @param folder - made if it is missing
 * @throws BackupError `BACKUP_REFUSED` while another backup writes there; DirectoryError
 */
export function openBackupFolder(folder: string): BackupFolder {
  const root = resolve(folder);
  const work = join(root, WORK);
  makeDirectory(join(root, 'backups'));
  const lock = takeLock(root);
  for (const left of [WORK, REMOVED]) rmSync(join(root, left), { recursive: true, force: true });
  mkdirSync(work, { mode: 0o700 });
  return {
    root,
    work,
    async complete(name) {
      await rename(work, backupPath(root, name));
      await syncDirectory(join(root, 'backups'));
    },
    async prune(name, keep) {
      const others = listBackups(root).filter((other) => other !== name);
      const old = others.slice(0, Math.max(0, others.length - (keep - 1)));
      for (const one of old) {
        // From here on it is none, though it may take a while until it is gone.
        await rename(backupPath(root, one), join(root, REMOVED));
        await rm(join(root, REMOVED), { recursive: true });
      }
      return old.length;
    },
    close() {
      rmSync(work, { recursive: true, force: true });
      lock.release();
    },
  };
}
