import { mkdtempSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { Environment } from '@prism-gateway/runtime/settings';
import { BackupError, type BackupTarget, isBackupName } from './backupTarget.ts';

/** Bytes sent at once, and kept in memory; ten thousand such parts, S3's most, are 320 GB. */
const PART_BYTES = 32 * 1024 * 1024;

/** A place in a bucket. */
interface BucketFolder {
  readonly client: S3Client;
  readonly Bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
}

const isMissing = (error: unknown) => error instanceof Error && ['NotFound', 'NoSuchKey'].includes(error.name);

/** The file's bytes in parts, in order; an empty file is one empty part. */
async function* readParts(file: string): AsyncGenerator<Buffer<ArrayBuffer>> {
  const handle = await open(file, 'r');
  try {
    for (let position = 0; ; ) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(PART_BYTES), 0, PART_BYTES, position);
      if (bytesRead > 0 || position === 0) yield buffer.subarray(0, bytesRead);
      if (bytesRead < PART_BYTES) return;
      position += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

async function uploadInParts({ client, Bucket }: BucketFolder, Key: string, file: string): Promise<void> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const upload = { Bucket, Key, UploadId };
  try {
    const Parts: { ETag: string | undefined; PartNumber: number }[] = [];
    for await (const Body of readParts(file)) {
      const PartNumber = Parts.length + 1;
      const { ETag } = await client.send(new UploadPartCommand({ ...upload, PartNumber, Body }));
      Parts.push({ ETag, PartNumber });
    }
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
  } catch (error) {
    // Parts that nobody completes are paid for until they are removed.
    await client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw error;
  }
}

async function fileSize(file: string): Promise<number> {
  const handle = await open(file, 'r');
  try {
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

async function upload(place: BucketFolder, key: string, file: string): Promise<void> {
  const Key = `${place.prefix}${key}`;
  if ((await fileSize(file)) > PART_BYTES) return await uploadInParts(place, Key, file);
  for await (const Body of readParts(file)) {
    await place.client.send(new PutObjectCommand({ Bucket: place.Bucket, Key, Body }));
  }
}

async function findSize({ client, Bucket, prefix }: BucketFolder, key: string): Promise<number | undefined> {
  try {
    const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket, Key: `${prefix}${key}` }));
    return ContentLength;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function read({ client, Bucket, prefix }: BucketFolder, key: string): Promise<Readable> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: `${prefix}${key}` }));
    if (Body instanceof Readable) return Body;
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  throw new BackupError('BACKUP_INCOMPLETE', `s3://${Bucket}/${prefix}${key} is not there; the backup is not whole.`);
}

/** Names of the backups whose manifests are there. */
async function listBackups({ client, Bucket, prefix }: BucketFolder): Promise<readonly string[]> {
  const names: string[] = [];
  const manifest = /^backups\/([^/]+)\/manifest\.json$/;
  for await (const page of paginateListObjectsV2({ client }, { Bucket, Prefix: `${prefix}backups/` })) {
    for (const { Key = '' } of page.Contents ?? []) {
      const name = manifest.exec(Key.slice(prefix.length))?.[1];
      if (name !== undefined && isBackupName(name)) names.push(name);
    }
  }
  return names.sort();
}

function openClient({ AWS_REGION, AWS_DEFAULT_REGION, S3_FORCE_PATH_STYLE }: Environment): S3Client {
  const region = AWS_REGION || AWS_DEFAULT_REGION;
  const client = new S3Client({ ...(region && { region }), forcePathStyle: S3_FORCE_PATH_STYLE === 'true' });
  // Of a bucket's path with and without a slash, which are one to S3, some compatible servers sign the bare one alone.
  client.middlewareStack.add(
    (next) => (call) => {
      const request = call.request as { path: string };
      request.path = request.path.replace(/(?<=.)\/$/, '');
      return next(call);
    },
    { step: 'build', name: 'bareBucketPath' },
  );
  return client;
}

/**
 * Keeps backups in a bucket, under names that say all of an s3 URL. Region, keys and endpoint come from the environment, as the AWS SDK
 * reads them.
 *
 * @param url - `s3://bucket` or `s3://bucket/prefix`
 * @throws BackupError `BACKUP_REFUSED` for another form
 */
export function openS3Target(url: string, environment: Environment): BackupTarget {
  const [, Bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(url) ?? [];
  if (Bucket === undefined) throw new BackupError('BACKUP_REFUSED', `${url} is no place: give s3://BUCKET/PREFIX.`);
  const client = openClient(environment);
  const prefix = path.replace(/\/*$/, path === '' ? '' : '/');
  const place: BucketFolder = { client, Bucket, prefix };
  const workFolder = mkdtempSync(join(tmpdir(), 'prism-backup-'));
  return {
    place: `s3://${Bucket}/${prefix}`,
    workFolder,
    listBackups: () => listBackups(place),
    findSize: (key) => findSize(place, key),
    async put(key, file) {
      await upload(place, key, file);
      await rm(file);
    },
    read: (key) => read(place, key),
    async close() {
      client.destroy();
      rmSync(workFolder, { recursive: true, force: true });
    },
  };
}
