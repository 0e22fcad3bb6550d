import { unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type DiskFiles, syncDirectory } from './diskFiles.ts';

/**
 * Deletes an object; it is gone for good once this resolves. One that is not there is no fault, as in S3.
 *
 * @param files where objects lie
 * @param objectPath `v1/{64 hex}/{32 hex}/{64 hex}`
 * @throws the file system's own errors
 */
export async function deleteObject(files: DiskFiles, objectPath: string): Promise<void> {
  const path = files.findPath(objectPath);
  try {
    await unlink(path);
    await syncDirectory(dirname(path));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
