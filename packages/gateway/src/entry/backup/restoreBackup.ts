import { createReadStream, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, open, rename, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { type FileLock, LockHeldError, lockFile, makeDirectory, syncDirectory } from '@prism-gateway/node';
import { renewCursorKey } from '../secrets.ts';
import { RESTORING } from './assertRestored.ts';
import { BackupError, backupPath, listBackups } from './backupFolder.ts';
import { verifyDatabase } from './copyDatabase.ts';
import { copyFile, forEachOf } from './copyFile.ts';
import { type BackupFile, type Manifest, readManifest, readObjectList } from './manifest.ts';

interface Context {
  /** The folder of all backups. */
  readonly root: string;
  /** `DATA_DIR`: missing, empty, or left by a restore that did not end. */
  readonly dataDir: string;
}

/** A folder that this restore alone fills. */
interface TakenFolder {
  /** Where what is fetched lies until all of it is there. */
  readonly work: string;
  readonly lock: FileLock;
}

// Both in `RESTORING`; no path of a backup begins with a dot.
const LOCK = '.lock';
const OBJECT_LIST = '.objects.jsonl';

// File systems have this one at their top.
const listEntries = (dataDir: string) => readdirSync(dataDir).filter((name) => name !== 'lost+found');

/** @throws BackupError `BACKUP_REFUSED` while another restore fills the folder */
function takeLock(dataDir: string): FileLock {
  const file = join(dataDir, RESTORING, LOCK);
  const sentence = `Another restore into DATA_DIR ${dataDir} is under way: wait until it has ended.`;
  let lock: FileLock;
  try {
    lock = lockFile(file);
  } catch (cause) {
    if (!(cause instanceof LockHeldError)) throw cause;
    throw new BackupError('BACKUP_REFUSED', sentence, { cause });
  }
  if (existsSync(file)) return lock;
  // One that has just ended took the file away with it.
  lock.release();
  throw new BackupError('BACKUP_REFUSED', sentence);
}

function takeFolder(dataDir: string): TakenFolder {
  makeDirectory(dataDir);
  const work = join(dataDir, RESTORING);
  if (!existsSync(work)) {
    if (listEntries(dataDir).length > 0) {
      throw new BackupError(
        'BACKUP_REFUSED',
        `DATA_DIR ${dataDir} is not empty: set DATA_DIR to a new folder, and keep the old one until the new one serves.`,
      );
    }
    mkdirSync(work, { mode: 0o700 });
  }
  const lock = takeLock(dataDir);
  // All that lies beside the mark, and in it, came from the restore that did not end.
  for (const name of listEntries(dataDir)) if (name !== RESTORING) rmSync(join(dataDir, name), { recursive: true });
  for (const name of readdirSync(work)) if (name !== LOCK) rmSync(join(work, name), { recursive: true });
  return { work, lock };
}

/** Reads no more bytes than were backed up: a file put in its place may have no end. */
async function* readAtMost(from: Readable, bytes: number): AsyncGenerator<Buffer> {
  let read = 0;
  for await (const part of from as AsyncIterable<Buffer>) {
    yield part;
    read += part.length;
    if (read > bytes) return;
  }
}

async function openFile(path: string) {
  try {
    return await open(path, 'r');
  } catch (cause) {
    throw new BackupError('BACKUP_INCOMPLETE', `${path} cannot be read; the backup is not whole.`, { cause });
  }
}

/** A backup that is looked at, and where its files are put. */
interface BackupFetch {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly work: string;
}

async function fetchFile(
  { folder, work }: Omit<BackupFetch, 'manifest'>,
  { path, bytes, sha256, to = path }: BackupFile & { readonly to?: string },
): Promise<void> {
  const [from, copy] = [join(folder, path), join(work, to)];
  await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
  const source = createReadStream('', { fd: await openFile(from) });
  const found = await copyFile(Readable.from(readAtMost(source, bytes)), copy);
  if (found.bytes === bytes && found.sha256 === sha256) return;
  throw new BackupError(
    'BACKUP_DAMAGED',
    `${from} is not what was backed up: its hash differs. Restore another backup with --backup NAME.`,
  );
}

async function fetchBackup({ folder, manifest, work }: BackupFetch): Promise<void> {
  for (const file of [manifest.database, ...manifest.files]) await fetchFile({ folder, work }, file);
  verifyDatabase(join(work, manifest.database.path));
  const { objects } = manifest;
  if (objects === null) return;
  await fetchFile({ folder, work }, { ...objects.list, to: OBJECT_LIST });
  let found = 0;
  await forEachOf(readObjectList(join(work, OBJECT_LIST)), async ({ path, bytes, sha256, mtimeMs }) => {
    await fetchFile({ folder, work }, { path, bytes, sha256 });
    await utimes(join(work, path), mtimeMs / 1000, mtimeMs / 1000);
    found++;
  });
  if (found === objects.count) return;
  throw new BackupError(
    'BACKUP_DAMAGED',
    `The list of objects of ${manifest.name} has ${found} of ${objects.count} entries.`,
  );
}

/** Gives what was fetched its place. The mark goes last: a gateway does not start while it is there. */
async function moveIntoPlace(work: string, dataDir: string): Promise<void> {
  const names = readdirSync(work).filter((name) => !name.startsWith('.'));
  for (const name of names) await rename(join(work, name), join(dataDir, name));
  await syncDirectory(dataDir);
  rmSync(work, { recursive: true });
  await syncDirectory(dataDir);
}

function chooseBackup(root: string, asked: string | undefined): string {
  const names = listBackups(root);
  const name = asked ?? names.at(-1);
  if (name !== undefined && names.includes(name)) return name;
  const which = asked === undefined ? 'no complete backup' : `no complete backup ${asked}`;
  throw new BackupError('BACKUP_INCOMPLETE', `There is ${which} in ${root}.`);
}

/**
 * Puts a backup into a new `DATA_DIR`. Every byte is checked against the hashes that were made when it was backed up, and the database
 * against its own form.
 *
 * @param asked - name of the backup; undefined: the newest
 * @returns its manifest
 * @throws BackupError; the file system's own errors
 * @see docs/specification.md BACKUP-3
 */
export async function restoreBackup({ root, dataDir }: Context, asked?: string): Promise<Manifest> {
  const name = chooseBackup(root, asked);
  const manifest = await readManifest(root, name);
  const { work, lock } = takeFolder(dataDir);
  try {
    await fetchBackup({ folder: backupPath(root, name), manifest, work });
    renewCursorKey(join(work, 'secrets.json'));
    await moveIntoPlace(work, dataDir);
  } finally {
    lock.release();
  }
  return manifest;
}
