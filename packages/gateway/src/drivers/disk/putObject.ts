import { access, link, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '@prism-gateway/node';
import { type DiskFiles, type ObjectFacts, readFacts } from './diskFiles.ts';
import { ObjectRefusedError } from './objectRefusedError.ts';
import { discardBody, receiveBody, type UploadBody } from './receiveBody.ts';
import { openTempFile, type TempFile } from './tempFiles.ts';

/** One object to be stored. */
export interface Upload {
  readonly objectPath: string;
  readonly body: UploadBody;
  /** Base64 of the SHA-256 that the content must have; absent: any content is good. */
  readonly checksum?: string | undefined;
  /** What to do if the object exists. */
  readonly onConflict: 'refuse' | 'replace';
}

/**
 * Stores an object: whole and durable under its name once this resolves, or not at all. What is received stands in a
 * temporary file until it is complete, checked and durable; giving it its name is one atomic step, which of many
 * rivals exactly one achieves when conflicts are refused.
 *
 * @param files where objects lie
 * @param upload what to store
 * @returns the stored object's facts
 * @throws ObjectRefusedError (`OBJECT_EXISTS`, `OBJECT_CONTENT_MISMATCH`, `OBJECT_TOO_LARGE`, `OBJECT_UPLOAD_INCOMPLETE`)
 * @throws the file system's own errors
 */
export async function putObject(files: DiskFiles, upload: Upload): Promise<ObjectFacts> {
  try {
    return await storeUpload(files, upload);
  } catch (error) {
    await discardBody(upload.body);
    throw error;
  }
}

async function storeUpload(files: DiskFiles, upload: Upload): Promise<ObjectFacts> {
  const path = files.findPath(upload.objectPath);
  if (upload.onConflict === 'refuse' && (await exists(path))) throw await refuseExisting(path);
  const temp = await openTempFile(files.tempDirectory);
  try {
    const facts = await receiveUpload(temp, upload);
    await files.prepareDirectory(upload.objectPath);
    if (upload.onConflict === 'refuse') await linkOrRefuse(temp.path, path);
    else await rename(temp.path, path);
    await syncDirectory(dirname(path));
    return facts;
  } finally {
    await rm(temp.path, { force: true });
  }
}

/** Receives, checks and makes durable; the handle is closed in any case. */
async function receiveUpload({ handle }: TempFile, { body, checksum }: Upload): Promise<ObjectFacts> {
  try {
    const received = await receiveBody(body, handle);
    if (checksum !== undefined && received !== checksum) throw new ObjectRefusedError('OBJECT_CONTENT_MISMATCH');
    await handle.sync();
    return await readFacts(handle);
  } finally {
    await handle.close();
  }
}

/** `link` is the one call that gives a file a name only if nobody has it. */
async function linkOrRefuse(temp: string, path: string): Promise<void> {
  try {
    await link(temp, path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw await refuseExisting(path);
    throw error;
  }
}

/** "It exists" is a promise too: the rival who stored it may not have made its name durable yet. */
async function refuseExisting(path: string): Promise<ObjectRefusedError> {
  await syncDirectory(dirname(path));
  return new ObjectRefusedError('OBJECT_EXISTS');
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
