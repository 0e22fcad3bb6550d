import type { Environment } from '@prism-gateway/runtime/settings';
import type { BackupTarget } from './backupTarget.ts';
import { openFolderTarget } from './openFolderTarget.ts';

/**
 * Opens the place that a person has named; the code for S3 is not loaded without need.
 *
 * @param context.purpose - what will be done there
 * @param place - a folder, or `s3://bucket/prefix`
 * @throws BackupError `BACKUP_REFUSED`
 */
export async function openTarget(
  { environment, purpose }: { readonly environment: Environment; readonly purpose: 'read' | 'write' },
  place: string,
): Promise<BackupTarget> {
  if (!place.startsWith('s3:')) return openFolderTarget(place, purpose);
  const { openS3Target } = await import('./openS3Target.ts');
  return openS3Target(place, environment);
}
