import { once } from 'node:events';
import { createReadStream, createWriteStream, type Dirent } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type BackupTarget, contentKey } from './backupTarget.ts';
import { type BackupFile, type BackupObject, backupObject } from './manifest.ts';
import { digestFile, writeStream } from './transferFile.ts';

/** Objects that are looked at together. */
const AT_ONCE = 16;

interface Context {
  readonly target: BackupTarget;
  readonly dataDir: string;
}

/** What the objects of a backup came to. */
export interface BackedUpObjects {
  readonly list: BackupFile;
  readonly count: number;
  readonly bytes: number;
  /** Bytes that no earlier backup had. */
  readonly newBytes: number;
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

async function readFolder(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // Removed meanwhile, or never made.
    if (isMissing(error)) return [];
    throw error;
  }
}

const byCodeUnits = (one: string, other: string) => (one < other ? -1 : Number(one > other));

/** Paths of all files below a folder, in one order that does not change. */
async function* walkFiles(root: string, inner: string): AsyncGenerator<string> {
  // Names are hex digits of one length a level, so that the order of names is that of whole paths.
  const entries = [...(await readFolder(join(root, inner)))].sort((a, b) => byCodeUnits(a.name, b.name));
  for (const entry of entries) {
    const path = `${inner}/${entry.name}`;
    if (entry.isDirectory()) yield* walkFiles(root, path);
    else if (entry.isFile()) yield path;
  }
}

/**
 * Reads the list of objects of a backup.
 *
 * @param input - the list, an object a line
 */
export async function* readObjectList(input: Readable): AsyncGenerator<BackupObject> {
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line !== '') yield backupObject.parse(JSON.parse(line));
  }
}

/** Finds entries of the backup before, which has the same order. Ask for paths in that order. */
function createLookup(before: AsyncGenerator<BackupObject> | undefined) {
  let head: BackupObject | undefined;
  return async function findBefore(path: string): Promise<BackupObject | undefined> {
    while (before !== undefined && (head === undefined || byCodeUnits(head.path, path) < 0)) {
      const next = await before.next();
      if (next.done === true) return undefined;
      head = next.value;
    }
    return head?.path === path ? head : undefined;
  };
}

/** What tells that a file is the one that was there: objects are replaced by other files, never written to. */
async function readIdentity(file: string) {
  const { ino, mtimeMs, size } = await stat(file, { bigint: true });
  return { ino: String(ino), mtimeMs: Number(mtimeMs), bytes: Number(size) };
}

interface Kept {
  readonly entry: BackupObject;
  readonly newBytes: number;
}

/** Makes sure that an object's content is among the target's. @returns undefined for one that is there no more */
async function keepObject(
  { target, dataDir }: Context,
  { path, before }: { readonly path: string; readonly before: BackupObject | undefined },
): Promise<Kept | undefined> {
  const file = join(dataDir, path);
  const copy = join(target.workFolder, `object-${path.replaceAll('/', '-')}`);
  try {
    const identity = await readIdentity(file);
    const isSame =
      before?.ino === identity.ino && before.mtimeMs === identity.mtimeMs && before.bytes === identity.bytes;
    if (isSame && (await target.findSize(contentKey(before.sha256))) === before.bytes)
      return { entry: before, newBytes: 0 };
    const { bytes, sha256 } = await writeStream(createReadStream(file), copy);
    const entry = { path, bytes, sha256, mtimeMs: identity.mtimeMs, ino: identity.ino };
    if ((await target.findSize(contentKey(sha256))) === bytes) return { entry, newBytes: 0 };
    await target.put(contentKey(sha256), copy);
    return { entry, newBytes: bytes };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  } finally {
    await rm(copy, { force: true });
  }
}

/** Gathers what comes into groups. */
async function* inGroups<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<readonly T[]> {
  let group: T[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/**
 * Copies the objects whose content the target does not have yet, and lists all. Content that is there from an earlier backup, under the
 * same name or another one, is not sent again, and a file that has not changed is not even read.
 *
 * @param context.dataDir - `DATA_DIR`
 * @param names - of the new backup, and of the list in the backup before, if there is one
 */
export async function backUpObjects(
  context: Context,
  { listKey, listBefore }: { readonly listKey: string; readonly listBefore: string | undefined },
): Promise<BackedUpObjects> {
  const { target, dataDir } = context;
  const file = join(target.workFolder, 'objects.jsonl');
  const output = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  const before = listBefore === undefined ? undefined : await target.read(listBefore);
  const findBefore = createLookup(before && readObjectList(before));
  const total = { count: 0, bytes: 0, newBytes: 0 };
  for await (const paths of inGroups(walkFiles(dataDir, 'objects/v1'), AT_ONCE)) {
    const tasks = [];
    for (const path of paths) tasks.push({ path, before: await findBefore(path) });
    for (const kept of await Promise.all(tasks.map((task) => keepObject(context, task)))) {
      if (kept === undefined) continue;
      total.count++;
      total.bytes += kept.entry.bytes;
      total.newBytes += kept.newBytes;
      if (!output.write(`${JSON.stringify(kept.entry)}\n`)) await once(output, 'drain');
    }
  }
  // Where there are fewer objects than before, some of it was not read.
  before?.destroy();
  output.end();
  await finished(output);
  const list = { path: 'objects.jsonl', ...(await digestFile(file)) };
  await target.put(listKey, file);
  return { list, ...total };
}
