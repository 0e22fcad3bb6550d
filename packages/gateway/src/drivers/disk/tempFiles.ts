import { hash, randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

const NAME = /^([0-9a-f]{8})-(\d+)-[0-9a-f]{16}\.part$/;
/** No upload pauses that long: HTTP servers end slow requests after minutes. */
const MAX_IDLE_MS = 3_600_000;

/** A file that is being received, under a name that shows who receives it: machine, process, chance. */
export interface TempFile {
  readonly path: string;
  readonly handle: FileHandle;
}

/**
 * Opens a new file for receiving.
 *
 * @param directory absolute path of the directory of temporary files
 * @returns the file; the caller closes its handle
 */
export async function openTempFile(directory: string): Promise<TempFile> {
  const name = `${nameHost()}-${process.pid}-${randomBytes(8).toString('hex')}.part`;
  const path = join(directory, name);
  return { path, handle: await open(path, 'wx', 0o600) };
}

/**
 * Removes the files that processes which are no more left half received. Other processes may be at work in the same
 * directory; theirs stay. Runs at start, before any upload, and blocks.
 *
 * @param options absolute path of the directory, and the time in milliseconds since the epoch
 * @returns how many files were removed
 */
export function sweepTempFiles({ directory, nowMs }: { directory: string; nowMs: number }): number {
  const stale = readdirSync(directory).filter((name) => isStale(directory, name, nowMs));
  for (const name of stale) rmSync(join(directory, name), { force: true });
  return stale.length;
}

function isStale(directory: string, name: string, nowMs: number): boolean {
  const [, host, pid] = NAME.exec(name) ?? [];
  const stats = statSync(join(directory, name), { throwIfNoEntry: false });
  // Someone else's file, or one that just went away.
  if (host === undefined || stats === undefined) return false;
  if (nowMs - stats.mtimeMs > MAX_IDLE_MS) return true;
  if (host !== nameHost()) return false;
  // In a container each life of the service may get the same process number.
  if (Number(pid) === process.pid) return stats.mtimeMs < performance.timeOrigin;
  return !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, as someone else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Names what process numbers are numbers in: containers of one host name may share a directory, and no process. */
function nameHost(): string {
  return hash('sha256', `${hostname()} ${readPidNamespace()}`).slice(0, 8);
}

/** @returns like `pid:[4026531836]`; empty if the system knows none */
function readPidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
