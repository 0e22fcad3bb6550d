import { hash, randomUUID } from 'node:crypto';
import { type BigIntStats, closeSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { type FileHandle, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncDirectory } from '@prism-gateway/node';

/** Where objects lie on disk. `{directory}/v1/…` holds them, `{directory}/tmp` what is being received. */
export interface DiskFiles {
  readonly tempDirectory: string;
  /** @param objectPath `v1/{64 hex}/{32 hex}/{64 hex}`, checked by the caller */
  findPath(objectPath: string): string;
  /** Makes an object's directory, so that it survives a loss of power. */
  prepareDirectory(objectPath: string): Promise<void>;
}

/** Directories known to be durable; one entry a project, some 200 bytes each. */
const MAX_REMEMBERED = 10_000;

/**
 * Opens a directory as a store of objects: makes what is missing, and tries what each put will need. Runs at start, and
 * blocks.
 *
 * @param directory absolute path of the store
 * @returns where its objects lie
 * @throws the file system's own error when files cannot be made or linked there
 */
export function openDiskFiles(directory: string): DiskFiles {
  const tempDirectory = join(directory, 'tmp');
  const created = mkdirSync(tempDirectory, { recursive: true, mode: 0o700 });
  mkdirSync(join(directory, 'v1'), { recursive: true, mode: 0o700 });
  syncUpwards(directory, dirname(created ?? tempDirectory));
  tryLinking(tempDirectory);

  const durable = new Set<string>();
  const findPath = (objectPath: string) => join(directory, ...objectPath.split('/'));
  return {
    tempDirectory,
    findPath,
    async prepareDirectory(objectPath) {
      const project = dirname(findPath(objectPath));
      const created = await mkdir(project, { recursive: true, mode: 0o700 });
      if (created === undefined && durable.has(project)) return;
      // A new name is durable once the directory that holds it is: the owner's in `v1`, the project's in the owner's.
      await syncDirectory(dirname(dirname(project)));
      await syncDirectory(dirname(project));
      if (durable.size >= MAX_REMEMBERED) durable.clear();
      durable.add(project);
    },
  };
}

/** Makes the names from `directory` up to and with `top` durable. */
function syncUpwards(directory: string, top: string): void {
  if (process.platform === 'win32') return;
  for (let path = directory; path.length >= top.length; path = dirname(path)) {
    const descriptor = openSync(path, 'r');
    fsyncSync(descriptor);
    closeSync(descriptor);
    if (path === dirname(path)) return;
  }
}

/** Some file systems know no hard links, without which a put cannot know whether it came first. */
function tryLinking(directory: string): void {
  const path = join(directory, `${randomUUID()}.probe`);
  closeSync(openSync(path, 'wx', 0o600));
  try {
    linkSync(path, `${path}2`);
    rmSync(`${path}2`);
  } finally {
    rmSync(path);
  }
}

/** The facts about an object in an answer. */
export interface ObjectFacts {
  readonly size: number;
  readonly etag: string;
  readonly lastModifiedMs: number;
}

/**
 * Reads what an answer says about an object.
 *
 * @param handle the object's open file
 * @returns size in bytes, entity tag, time of the last change in milliseconds since the epoch
 */
export async function readFacts(handle: FileHandle): Promise<ObjectFacts> {
  const stats = await handle.stat({ bigint: true });
  return { size: Number(stats.size), etag: makeEtag(stats), lastModifiedMs: Number(stats.mtimeMs) };
}

/** Changes with each put; hashed, since inode numbers are nobody's business. */
function makeEtag({ ino, size, mtimeNs }: BigIntStats): string {
  return `"${hash('sha256', `${ino}-${size}-${mtimeNs}`).slice(0, 32)}"`;
}
