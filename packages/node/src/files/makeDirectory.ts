import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { syncDirectorySync } from './syncDirectory.ts';

/** A folder that is not there and cannot be made, with the system's own code, like `ENOENT`. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
  readonly code: string;
  /** The system's own words. */
  readonly reason: string;

  /** @param path - of the folder @param cause - the system's error */
  constructor(path: string, cause: NodeJS.ErrnoException) {
    super(`The folder ${path} cannot be made: name another one. (${cause.message})`, { cause });
    this.code = cause.code ?? 'UNKNOWN';
    this.reason = cause.message;
  }
}

/** @throws Error of the file system, such as EACCES */
const isDirectory = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Makes one folder below another level by level. @throws Error of the file system */
function makeLevels(path: string): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeLevels(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if (!isDirectory(path)) throw error;
  }
  syncDirectorySync(parent);
}

/**
 * Makes a folder that is missing, and those above it, so that their names survive a loss of power. What it makes, its owner alone can read.
 *
 * Node's own recursive form never returns if the system lets nobody make a folder: below /proc.
 *
 * @throws DirectoryError with the system's code
 */
export function makeDirectory(path: string): void {
  try {
    makeLevels(resolve(path));
  } catch (error) {
    // An error of `node:fs`.
    throw new DirectoryError(path, error as NodeJS.ErrnoException);
  }
}
