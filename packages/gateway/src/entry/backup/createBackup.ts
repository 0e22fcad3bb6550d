import { randomBytes } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { link, mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { syncDirectory } from '@prism-gateway/node';
import { BackupError, type BackupFolder, backupPath, listBackups, MANIFEST } from './backupFolder.ts';
import { copyDatabase, verifyDatabase } from './copyDatabase.ts';
import { copyFile, digestFile, forEachOf } from './copyFile.ts';
import { recordBackup } from './lastBackup.ts';
import {
  type BackupFile,
  type BackupObject,
  MANIFEST_FORM,
  type Manifest,
  readManifest,
  readObjectList,
} from './manifest.ts';

/** The gateway's settings that a backup needs. */
export interface BackupSettings {
  readonly dataDir: string;
  readonly stage: 'dev' | 'prod';
  readonly databaseFile: string;
  /** Whether objects are under `DATA_DIR`, and not in a bucket. */
  readonly keepsObjects: boolean;
}

interface Context {
  readonly settings: BackupSettings;
  readonly folder: BackupFolder;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A backup that is complete. */
export interface CreatedBackup {
  readonly manifest: Manifest;
  /** Bytes of objects that no earlier backup had. */
  readonly newObjectBytes: number;
}

const OBJECT_LIST = 'objects.jsonl';

const toIso = (ms: number) => new Date(ms).toISOString();

/** Sorts as time goes, fits every file system, and differs from that of another backup in the same millisecond. */
const chooseName = (startedAt: number) =>
  `${toIso(startedAt).replaceAll(/[:.]/g, '-')}-${randomBytes(2).toString('hex')}`;

function describeDatabase(file: string): Pick<Manifest, 'databaseId' | 'schemaVersions'> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare('SELECT store, version FROM schema_versions').all();
    return {
      databaseId: String(database.prepare('SELECT id FROM database_id').get()?.id),
      schemaVersions: Object.fromEntries(rows.map(({ store, version }) => [String(store), Number(version)])),
    };
  } finally {
    database.close();
  }
}

/**
 * Refuses a folder with backups of other data: a restore would take the newest whosever it is, and `--keep` would remove them. An
 * empty gateway that runs on after its disk was lost must not push the last good backup out.
 *
 * @throws BackupError `BACKUP_REFUSED`
 */
async function checkOwner(root: string, databaseId: string): Promise<void> {
  for (const name of listBackups(root).toReversed()) {
    const manifest = await readManifest(root, name).catch(() => undefined);
    if (manifest === undefined) continue;
    if (manifest.databaseId === databaseId) return;
    throw new BackupError(
      'BACKUP_REFUSED',
      `${root} has backups of other data than this gateway's: give each gateway a folder of its own, and restore a backup before a new gateway goes on with its folder.`,
    );
  }
}

async function backUpDatabase({ settings, folder }: Context) {
  const path = basename(settings.databaseFile);
  const copy = join(folder.work, path);
  await copyDatabase({ file: settings.databaseFile }, copy);
  verifyDatabase(copy);
  const described = describeDatabase(copy);
  await checkOwner(folder.root, described.databaseId);
  return { database: { path, ...(await digestFile(copy)) }, ...described };
}

/** Paths below `DATA_DIR` of the secrets, and of what the development issuer keeps. */
async function listFiles(dataDir: string): Promise<readonly string[]> {
  const identity = join(dataDir, 'identity');
  const names = existsSync(identity) ? await readdir(identity, { withFileTypes: true }) : [];
  const files = names.filter((entry) => entry.isFile() && /^[\w-]+\.json$/.test(entry.name));
  const paths = ['secrets.json', ...files.map(({ name }) => `identity/${name}`)];
  return paths.filter((path) => existsSync(join(dataDir, path)));
}

async function backUpFiles({ settings, folder }: Context): Promise<BackupFile[]> {
  const files: BackupFile[] = [];
  for (const path of await listFiles(settings.dataDir)) {
    const copy = join(folder.work, path);
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    files.push({ path, ...(await copyFile(createReadStream(join(settings.dataDir, path)), copy)) });
    await syncDirectory(dirname(copy));
  }
  return files;
}

/** The newest backup that has objects, by their paths. */
async function readObjectsBefore(root: string) {
  for (const name of listBackups(root).toReversed()) {
    const folder = backupPath(root, name);
    const objects = new Map<string, BackupObject>();
    try {
      if ((await readManifest(root, name)).objects === null) continue;
      for await (const object of readObjectList(join(folder, OBJECT_LIST))) objects.set(object.path, object);
      return { folder, objects };
    } catch {
      // Copied anew then: a damaged backup must not keep anybody from making a good one.
    }
  }
  return { folder: '', objects: new Map<string, BackupObject>() };
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Paths of all files below a folder of `DATA_DIR`; what is removed meanwhile is left out. */
async function* walkFiles(dataDir: string, inner: string): AsyncGenerator<string> {
  const entries = await readdir(join(dataDir, inner), { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  for (const entry of entries) {
    const path = `${inner}/${entry.name}`;
    if (entry.isDirectory()) yield* walkFiles(dataDir, path);
    else if (entry.isFile()) yield path;
  }
}

/** Whether a file is still the same: objects are replaced by other files, never written to. */
async function readIdentity(file: string) {
  const { ino, mtimeMs, size } = await stat(file, { bigint: true });
  return { ino: String(ino), mtimeMs: Number(mtimeMs), bytes: Number(size) };
}

type Identity = Awaited<ReturnType<typeof readIdentity>>;

const isSame = (before: BackupObject, { ino, mtimeMs, bytes }: Identity) =>
  before.ino === ino && before.mtimeMs === mtimeMs && before.bytes === bytes;

/** Gives the file of an earlier backup a second name. @returns whether it has one: not every file system has them */
async function linkFile(from: string, { to, bytes }: { readonly to: string; readonly bytes: number }) {
  try {
    await link(from, to);
    if ((await stat(to)).size === bytes) return true;
    await rm(to);
    return false;
  } catch {
    return false;
  }
}

/**
 * Backs up the local objects: a file that the backup before has is linked from there, any other one is copied. So each backup is whole by
 * itself, and only what is new takes room.
 */
async function backUpObjects({ settings, folder }: Context) {
  const before = await readObjectsBefore(folder.root);
  const file = join(folder.work, OBJECT_LIST);
  const list = await open(file, 'ax', 0o600);
  const folders = new Set<string>();
  const total = { count: 0, bytes: 0, newBytes: 0 };
  async function backUpObject(path: string): Promise<void> {
    const [original, copy] = [join(settings.dataDir, path), join(folder.work, path)];
    const identity = await readIdentity(original);
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    for (let above = dirname(copy); above !== folder.work; above = dirname(above)) folders.add(above);
    const known = before.objects.get(path);
    const isLinked =
      known !== undefined &&
      isSame(known, identity) &&
      (await linkFile(join(before.folder, path), { to: copy, bytes: known.bytes }));
    const entry = isLinked ? known : { path, ...identity, ...(await copyFile(createReadStream(original), copy)) };
    await list.appendFile(`${JSON.stringify(entry)}\n`);
    total.count++;
    total.bytes += entry.bytes;
    if (!isLinked) total.newBytes += entry.bytes;
  }
  try {
    await forEachOf(walkFiles(settings.dataDir, 'objects/v1'), async (path) => {
      try {
        await backUpObject(path);
      } catch (error) {
        // Deleted meanwhile, which a user may do.
        if (!isMissing(error)) throw error;
      }
    });
    for (const path of folders) await syncDirectory(path);
    await list.sync();
  } finally {
    await list.close();
  }
  return { list: { path: OBJECT_LIST, ...(await digestFile(file)) }, ...total };
}

/**
 * Backs up all that a gateway keeps in `DATA_DIR`, while it runs: what was acknowledged before this begins is in the backup. It counts
 * once its manifest is written; whatever happens before leaves earlier backups as they were.
 *
 * @returns the manifest, and how much was new
 * @throws BackupError; the file system's own errors
 * @see docs/specification.md BACKUP-1
 */
export async function createBackup(context: Context): Promise<CreatedBackup> {
  const { settings, folder, now } = context;
  const startedAt = now();
  const name = chooseName(startedAt);
  const database = await backUpDatabase(context);
  const files = await backUpFiles(context);
  const objects = settings.keepsObjects ? await backUpObjects(context) : undefined;
  const manifest: Manifest = {
    ...{ form: MANIFEST_FORM, name, startedAt: toIso(startedAt), finishedAt: toIso(now()), stage: settings.stage },
    ...database,
    files,
    objects: objects === undefined ? null : { list: objects.list, count: objects.count, bytes: objects.bytes },
  };
  const text = `${JSON.stringify(manifest, undefined, 2)}\n`;
  await writeFile(join(folder.work, MANIFEST), text, { mode: 0o600, flag: 'wx', flush: true });
  await syncDirectory(folder.work);
  await folder.complete(name);
  await recordBackup(settings.dataDir, startedAt);
  return { manifest, newObjectBytes: objects?.newBytes ?? 0 };
}
