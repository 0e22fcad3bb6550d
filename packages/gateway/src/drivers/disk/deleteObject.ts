import { stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '@prism-gateway/node';
import type { DiskFiles } from './diskFiles.ts';

/**
 * Deletes an object; it is gone for good once this resolves. One that is not there is no fault, as in S3.
 *
 * @param files where objects lie
 * @param objectPath `v1/{64 hex}/{32 hex}/{64 hex}`
 * @returns how many bytes it had; undefined if it was not there, or another call has deleted it
 * @throws the file system's own errors
 */
export async function deleteObject(files: DiskFiles, objectPath: string): Promise<number | undefined> {
  const path = files.findPath(objectPath);
  const facts = await stat(path).catch(passMissing);
  const isDeleted = await unlink(path).then(() => true, passMissing);
  // "It is gone" is a promise too: the rival who deleted it may not have made that durable yet.
  await syncDirectory(dirname(path)).catch(passMissing);
  return isDeleted ? facts?.size : undefined;
}

function passMissing(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  return undefined;
}
