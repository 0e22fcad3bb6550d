import { randomBytes } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { copyDatabase } from '../../drivers/sqlite/copyDatabase.ts';
import { type BackedUpObjects, backUpObjects } from './backUpObjects.ts';
import type { BackupSettings } from './backupSettings.ts';
import { BackupError, type BackupTarget, manifestKey } from './backupTarget.ts';
import { type BackupFile, MANIFEST_FORM, type Manifest, readManifest } from './manifest.ts';
import { digestFile, writeStream } from './transferFile.ts';
import { verifyCopy } from './verifyCopy.ts';

interface Context {
  readonly settings: BackupSettings;
  readonly target: BackupTarget;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A backup that is complete. */
export interface CreatedBackup {
  readonly manifest: Manifest;
  /** Bytes of objects that no earlier backup had. */
  readonly newObjectBytes: number;
}

const toIso = (ms: number) => new Date(ms).toISOString();

/** Sorts as time goes, fits every file system, and differs from that of another backup in the same millisecond. */
const chooseName = (startedAt: number) =>
  `${toIso(startedAt).replaceAll(/[:.]/g, '-')}-${randomBytes(2).toString('hex')}`;

function readSchemaVersions(file: string): Record<string, number> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare('SELECT store, version FROM schema_versions').all();
    return Object.fromEntries(rows.map(({ store, version }) => [String(store), Number(version)]));
  } finally {
    database.close();
  }
}

async function backUpDatabase({ settings, target }: Context, name: string) {
  const path = basename(settings.databaseFile);
  const copy = join(target.workFolder, path);
  await copyDatabase({ file: settings.databaseFile }, copy);
  // Both read all of it, and neither changes anything.
  const [digest] = await Promise.all([digestFile(copy), verifyCopy(copy)]);
  const schemaVersions = readSchemaVersions(copy);
  const database: BackupFile = { path, ...digest };
  await target.put(`backups/${name}/${path}`, copy);
  return { database, schemaVersions };
}

/** Paths below `DATA_DIR` of the secrets, and of what the development issuer keeps. */
async function listFiles(dataDir: string): Promise<readonly string[]> {
  const identity = join(dataDir, 'identity');
  const names = existsSync(identity) ? await readdir(identity, { withFileTypes: true }) : [];
  const files = names.filter((entry) => entry.isFile() && /^[\w-]+\.json$/.test(entry.name));
  const paths = ['secrets.json', ...files.map(({ name }) => `identity/${name}`)];
  return paths.filter((path) => existsSync(join(dataDir, path)));
}

async function backUpFiles({ settings, target }: Context, name: string): Promise<BackupFile[]> {
  const files: BackupFile[] = [];
  for (const path of await listFiles(settings.dataDir)) {
    const copy = join(target.workFolder, path.replaceAll('/', '-'));
    const digest = await writeStream(createReadStream(join(settings.dataDir, path)), copy);
    await target.put(`backups/${name}/${path}`, copy);
    files.push({ path, ...digest });
  }
  return files;
}

/** The list of objects of the newest backup that has one. */
async function findListBefore(target: BackupTarget): Promise<string | undefined> {
  for (const name of (await target.listBackups()).toReversed()) {
    const manifest = await readManifest(target, name).catch(() => undefined);
    const list = manifest?.objects?.list;
    if (list !== undefined) return `backups/${name}/${list.path}`;
  }
  return undefined;
}

/** Not every store of files tells when it has lost some: what was sent is asked for once more. */
async function assertKept(
  target: BackupTarget,
  { name, database }: Pick<Manifest, 'name' | 'database'>,
): Promise<void> {
  const size = await target.findSize(`backups/${name}/${database.path}`);
  if (size === database.bytes) return;
  throw new BackupError(
    'BACKUP_TARGET_FAILED',
    `${target.place} has ${size ?? 0} of the ${database.bytes} bytes of the database; try again, or choose another place.`,
  );
}

/**
 * Backs up all that a gateway keeps in `DATA_DIR`, while it runs: what was acknowledged before this begins is in the backup. It counts
 * once its manifest is written; whatever happens before leaves earlier backups as they were.
 *
 * @returns the manifest, and what was new
 * @throws BackupError, DatabaseCopyError; the file system's or the bucket's own errors
 * @see docs/specification.md BACKUP-1
 */
export async function createBackup(context: Context): Promise<CreatedBackup> {
  const { settings, target, now } = context;
  const startedAt = now();
  const name = chooseName(startedAt);
  const database = await backUpDatabase(context, name);
  const files = await backUpFiles(context, name);
  let objects: BackedUpObjects | undefined;
  if (settings.keepsObjects) {
    const names = { listKey: `backups/${name}/objects.jsonl`, listBefore: await findListBefore(target) };
    objects = await backUpObjects({ target, dataDir: settings.dataDir }, names);
  }
  const manifest: Manifest = {
    ...{ form: MANIFEST_FORM, name, startedAt: toIso(startedAt), finishedAt: toIso(now()), stage: settings.stage },
    ...database,
    files,
    objects: objects === undefined ? null : { list: objects.list, count: objects.count, bytes: objects.bytes },
  };
  await assertKept(target, manifest);
  const file = join(target.workFolder, 'manifest.json');
  await writeFile(file, `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await target.put(manifestKey(name), file);
  return { manifest, newObjectBytes: objects?.newBytes ?? 0 };
}
