import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import * as z from 'zod/mini';
import { BackupError, backupPath, isBackupName, MANIFEST } from './backupFolder.ts';

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const size = z.int().check(z.nonnegative());
/** A path below `DATA_DIR`, which must not lead out of it. */
const innerPath = z.string().check(
  z.regex(/^[A-Za-z0-9_-][A-Za-z0-9_.-]*(\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$/),
  z.refine((path) => !path.split('/').includes('..')),
);

/** A file of a backup, by its path in `DATA_DIR` and in the backup. */
const backupFile = z.object({ path: innerPath, bytes: size, sha256 });
export type BackupFile = z.infer<typeof backupFile>;

/** An object as the list in a backup has it, one a line. */
const backupObject = z.object({ ...backupFile.shape, mtimeMs: z.number(), ino: z.string() });
export type BackupObject = z.infer<typeof backupObject>;

/** The form of manifests that this program writes. */
export const MANIFEST_FORM = 1;

/** The contents of a backup; written once all the rest is there. */
const manifestForm = z.object({
  form: z.literal(MANIFEST_FORM),
  name: z.string().check(z.refine(isBackupName)),
  /** When the backup began: what was acknowledged before is in it. */
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  stage: z.enum(['dev', 'prod']),
  database: backupFile,
  /** Made with the database, and kept by its copies. */
  databaseId: z.string().check(z.regex(/^[0-9a-f]{32}$/)),
  /** The schema's version of each store, by the store's name. */
  schemaVersions: z.record(z.string(), z.int()),
  /** Secrets, and what else is kept beside the database. */
  files: z.array(backupFile),
  /** The list of objects; null: they are in a bucket, which has its own backups. */
  objects: z.nullable(z.object({ list: backupFile, count: size, bytes: size })),
});
export type Manifest = z.infer<typeof manifestForm>;

/**
 * Reads the manifest of a backup.
 *
 * @param root - the folder of all backups
 * @throws BackupError `BACKUP_DAMAGED` if this program cannot read it
 */
export async function readManifest(root: string, name: string): Promise<Manifest> {
  const text: unknown = await json(createReadStream(join(backupPath(root, name), MANIFEST))).catch(() => undefined);
  const parsed = manifestForm.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new BackupError(
    'BACKUP_DAMAGED',
    `The manifest of ${name} in ${root} is damaged, or a newer version of the gateway wrote it: try that version, or another backup.`,
  );
}

/** @param file - the list of a backup's objects, an object a line */
export async function* readObjectList(file: string): AsyncGenerator<BackupObject> {
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line !== '') yield backupObject.parse(JSON.parse(line));
  }
}
