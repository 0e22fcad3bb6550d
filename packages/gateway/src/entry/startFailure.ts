import { DirectoryError } from '@prism-gateway/node';
import { SettingsError } from '@prism-gateway/node/settings';

interface SystemError extends Error {
  readonly code?: string;
  /** SQLite's own code, if `code` says that the error is SQLite's. */
  readonly errcode?: number;
  readonly path?: string;
  /** The system call that failed: `listen` is about the address, others are about files. */
  readonly syscall?: string;
}

/** Advice on the usual reasons, by the system's error code. */
const adviceOf: Readonly<Record<string, (where: { readonly address: string; readonly dataDir: string }) => string>> = {
  EADDRINUSE: ({ address }) => `${address} is in use: stop what listens there, or set PORT to another port.`,
  EADDRNOTAVAIL: ({ address }) => `${address} is not an address of this machine: set HOST to one that is.`,
  ENOTFOUND: ({ address }) => `${address} is not an address of this machine: set HOST to one that is.`,
  EACCES: ({ dataDir }) =>
    `No permission for DATA_DIR ${dataDir}: set DATA_DIR to a directory that this user may write.`,
  EROFS: ({ dataDir }) => `DATA_DIR ${dataDir} cannot be written: set DATA_DIR to a directory that can.`,
  ENOENT: ({ dataDir }) => `DATA_DIR ${dataDir} cannot be made: set DATA_DIR to a directory that can.`,
  EISDIR: ({ dataDir }) => `A file in DATA_DIR ${dataDir} is a directory: set DATA_DIR to another directory.`,
  ELOOP: ({ dataDir }) => `DATA_DIR ${dataDir} is a link to itself: set DATA_DIR to a directory.`,
  ENAMETOOLONG: ({ dataDir }) => `DATA_DIR ${dataDir} is too long a name: set DATA_DIR to a shorter one.`,
  EPERM: ({ dataDir }) => `DATA_DIR ${dataDir} cannot be written: set DATA_DIR to a directory that can.`,
  ENOTDIR: ({ dataDir }) => `DATA_DIR ${dataDir} is not a directory: set DATA_DIR to one.`,
  EEXIST: ({ dataDir }) => `DATA_DIR ${dataDir} is not a directory: set DATA_DIR to one.`,
  ENOSPC: ({ dataDir }) => `The disk of DATA_DIR ${dataDir} is full.`,
  ERR_SQLITE_ERROR: ({ dataDir }) => `The database in DATA_DIR ${dataDir} cannot be opened or written.`,
};

/** SQLite's codes for a full disk: of the database or its log, and of the index of the log. @see https://sqlite.org/rescode.html */
const fullDiskCodes: readonly unknown[] = [13, 4874];

/**
 * Says in one sentence why the gateway could not start and what to do.
 *
 * @param error - what was thrown
 */
export function describeStartFailure(
  error: unknown,
  where: { readonly address: string; readonly dataDir: string },
): string {
  if (error instanceof SettingsError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code: ownCode, errcode, message, syscall } = error as SystemError;
  const code = ownCode === 'ERR_SQLITE_ERROR' && fullDiskCodes.includes(errcode) ? 'ENOSPC' : ownCode;
  if (code === 'EACCES' && syscall === 'listen') {
    return `No permission to listen on ${where.address}: set PORT to a port that this user may use. (${message})`;
  }
  const advice = code === undefined ? undefined : adviceOf[code];
  if (advice === undefined) return message;
  return `${advice(where)} (${error instanceof DirectoryError ? error.reason : message})`;
}
