import type { Readable } from 'node:stream';

/**
 * Where backups are kept, as files under keys with slashes. A backup is `backups/NAME/…`, and is there once its manifest is. What
 * many backups share lies under `objects/`, each content once, by its SHA-256.
 */
export interface BackupTarget {
  /** As people write it: a path, or `s3://bucket/prefix`. */
  readonly place: string;
  /** Names of the complete backups, oldest first. */
  listBackups(): Promise<readonly string[]>;
  /** @returns bytes under a key; undefined: there is nothing */
  findSize(key: string): Promise<number | undefined>;
  /** Takes a file over, whole and durable under the key once this resolves; the file is gone from where it was. */
  put(key: string, file: string): Promise<void>;
  /** @throws BackupError `BACKUP_INCOMPLETE` where there is nothing */
  read(key: string): Promise<Readable>;
  /** A folder for files on their way, on the target's own disk if it has one. */
  readonly workFolder: string;
  /** Removes what is on its way, and lets others back up to the same place. */
  close(): Promise<void>;
}

/** A backup or a restore that cannot be made; its message says why and what to do. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
  readonly code: 'BACKUP_INCOMPLETE' | 'BACKUP_DAMAGED' | 'BACKUP_REFUSED' | 'BACKUP_TARGET_FAILED';

  /** @param message - one sentence, or two, for the person at the terminal */
  constructor(code: BackupError['code'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a folder below `backups/` may be a backup: others are not looked at, and their names never reach a terminal. */
export const isBackupName = (name: string) => /^[A-Za-z0-9][\w-]*$/.test(name);

/** Key of a backup's manifest, which is written last. */
export const manifestKey = (name: string) => `backups/${name}/manifest.json`;

/** Key of an object's content. @param sha256 - lower-case hex */
export const contentKey = (sha256: string) => `objects/${sha256.slice(0, 2)}/${sha256}`;
