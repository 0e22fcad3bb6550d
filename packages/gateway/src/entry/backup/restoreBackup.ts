import { createReadStream, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, rename, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { type FileLock, LockHeldError, lockFile, makeDirectory, syncDirectory } from '@prism-gateway/runtime';
import { verifyDatabase } from '../../drivers/sqlite/copyDatabase.ts';
import { RESTORING } from './assertRestored.ts';
import { readObjectList } from './backUpObjects.ts';
import { BackupError, type BackupTarget, contentKey } from './backupTarget.ts';
import { type BackupFile, type BackupObject, type Manifest, readManifest } from './manifest.ts';
import { writeStream } from './transferFile.ts';

/** Objects that are fetched together. */
const AT_ONCE = 16;

interface Context {
  readonly target: BackupTarget;
  /** `DATA_DIR`: missing, empty, or left by a restore that did not end. */
  readonly dataDir: string;
}

/** A place of what is fetched. */
interface Fetch extends BackupFile {
  readonly key: string;
  readonly to: string;
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

/** What comes, as long as it is not more than was backed up: a file that was put in its place may have no end. */
async function* readAtMost(from: Readable, bytes: number): AsyncGenerator<Buffer> {
  let read = 0;
  for await (const part of from as AsyncIterable<Buffer>) {
    yield part;
    read += part.length;
    if (read > bytes) return;
  }
}

async function fetchFile(target: BackupTarget, { key, to, bytes, sha256 }: Fetch): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const found = await writeStream(Readable.from(readAtMost(await target.read(key), bytes)), to);
  if (found.bytes === bytes && found.sha256 === sha256) return;
  throw new BackupError(
    'BACKUP_DAMAGED',
    `${key} in ${target.place} is not what was backed up: its hash differs. Restore another backup with --backup NAME.`,
  );
}

/** What lists the objects of a backup, and where they are put. */
interface ObjectFetch {
  readonly list: Omit<Fetch, 'to'>;
  readonly work: string;
}

async function fetchObjects(target: BackupTarget, { list, work }: ObjectFetch): Promise<number> {
  const file = join(work, OBJECT_LIST);
  await fetchFile(target, { ...list, to: file });
  let count = 0;
  let group: Promise<void>[] = [];
  async function fetchOne({ path, bytes, sha256, mtimeMs }: BackupObject): Promise<void> {
    const to = join(work, path);
    await fetchFile(target, { key: contentKey(sha256), to, path, bytes, sha256 });
    await utimes(to, mtimeMs / 1000, mtimeMs / 1000);
  }
  for await (const object of readObjectList(createReadStream(file))) {
    count++;
    group.push(fetchOne(object));
    if (group.length < AT_ONCE) continue;
    await Promise.all(group);
    group = [];
  }
  await Promise.all(group);
  return count;
}

/** A backup that is looked at, and where its files are put. */
interface BackupFetch {
  readonly name: string;
  readonly manifest: Manifest;
  readonly work: string;
}

async function fetchBackup(target: BackupTarget, { name, manifest, work }: BackupFetch): Promise<void> {
  const keyOf = (path: string) => `backups/${name}/${path}`;
  for (const file of [manifest.database, ...manifest.files]) {
    await fetchFile(target, { ...file, key: keyOf(file.path), to: join(work, file.path) });
  }
  verifyDatabase(join(work, manifest.database.path));
  const { objects } = manifest;
  if (objects === null) return;
  const { list, count } = objects;
  const found = await fetchObjects(target, { list: { ...list, key: keyOf(list.path) }, work });
  if (found === count) return;
  throw new BackupError('BACKUP_DAMAGED', `The list of objects of ${name} has ${found} of ${count} entries.`);
}

/** Gives what was fetched its place. The mark goes last: a gateway does not start while it is there. */
async function moveIntoPlace(work: string, dataDir: string): Promise<void> {
  const names = readdirSync(work).filter((name) => !name.startsWith('.'));
  for (const name of names) await rename(join(work, name), join(dataDir, name));
  await syncDirectory(dataDir);
  rmSync(work, { recursive: true });
  await syncDirectory(dataDir);
}

async function chooseBackup(target: BackupTarget, asked: string | undefined): Promise<string> {
  const names = await target.listBackups();
  const name = asked ?? names.at(-1);
  if (name !== undefined && names.includes(name)) return name;
  const which = asked === undefined ? 'no complete backup' : `no complete backup ${asked}`;
  throw new BackupError('BACKUP_INCOMPLETE', `There is ${which} in ${target.place}.`);
}

/**
 * Puts a backup into a new `DATA_DIR`. Every byte is checked against the hashes that were made when it was backed up, and the database
 * against its own form.
 *
 * @param asked - name of the backup; undefined: the newest
 * @returns its manifest
 * @throws BackupError; DatabaseCopyError; the file system's or the bucket's own errors
 * @see docs/specification.md BACKUP-3
 */
export async function restoreBackup({ target, dataDir }: Context, asked?: string): Promise<Manifest> {
  const name = await chooseBackup(target, asked);
  const manifest = await readManifest(target, name);
  const { work, lock } = takeFolder(dataDir);
  try {
    await fetchBackup(target, { name, manifest, work });
    await moveIntoPlace(work, dataDir);
  } finally {
    lock.release();
  }
  return manifest;
}
