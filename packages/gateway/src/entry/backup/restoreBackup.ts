import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, rename, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncDirectory } from '@prism-gateway/runtime';
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

function prepareFolder(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // File systems have this one at their top.
  const entries = readdirSync(dataDir).filter((name) => name !== 'lost+found');
  if (entries.length > 0 && !entries.includes(RESTORING)) {
    throw new BackupError(
      'BACKUP_REFUSED',
      `DATA_DIR ${dataDir} is not empty: set DATA_DIR to a new folder, and keep the old one until the new one serves.`,
    );
  }
  // All that lies beside the mark came from the restore that did not end.
  for (const name of entries) if (name !== RESTORING) rmSync(join(dataDir, name), { recursive: true });
  const work = join(dataDir, RESTORING);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { mode: 0o700 });
  return work;
}

async function fetchFile(target: BackupTarget, { key, to, bytes, sha256 }: Fetch): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const found = await writeStream(await target.read(key), to);
  if (found.bytes === bytes && found.sha256 === sha256) return;
  throw new BackupError(
    'BACKUP_DAMAGED',
    `${key} in ${target.place} is not what was backed up: its hash differs. Restore another backup with --backup NAME.`,
  );
}

async function fetchObjects(target: BackupTarget, { list, work }: { list: string; work: string }): Promise<number> {
  let count = 0;
  let group: Promise<void>[] = [];
  async function fetchOne({ path, bytes, sha256, mtimeMs }: BackupObject): Promise<void> {
    const to = join(work, path);
    await fetchFile(target, { key: contentKey(sha256), to, path, bytes, sha256 });
    await utimes(to, mtimeMs / 1000, mtimeMs / 1000);
  }
  for await (const object of readObjectList(target, list)) {
    count++;
    group.push(fetchOne(object));
    if (group.length < AT_ONCE) continue;
    await Promise.all(group);
    group = [];
  }
  await Promise.all(group);
  return count;
}

/** Gives what was fetched its place. The mark goes last: a gateway does not start while it is there. */
async function moveIntoPlace(work: string, dataDir: string): Promise<void> {
  for (const name of readdirSync(work)) await rename(join(work, name), join(dataDir, name));
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
  const work = prepareFolder(dataDir);
  const keyOf = (path: string) => `backups/${name}/${path}`;
  for (const file of [manifest.database, ...manifest.files]) {
    await fetchFile(target, { ...file, key: keyOf(file.path), to: join(work, file.path) });
  }
  verifyDatabase(join(work, manifest.database.path));
  const { objects } = manifest;
  if (objects !== null) {
    const count = await fetchObjects(target, { list: keyOf(objects.list.path), work });
    if (count !== objects.count) {
      throw new BackupError(
        'BACKUP_DAMAGED',
        `The list of objects of ${name} has ${count} of ${objects.count} entries.`,
      );
    }
  }
  await moveIntoPlace(work, dataDir);
  return manifest;
}
