import { statSync } from 'node:fs';
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A file of the gateway's folder whose time is that of the last backup: a rule wakes somebody if it grows old. */
const NOTE = 'last-backup';

/** Notes that a backup is complete, which it is also if nothing can be written here. @param startedAt - milliseconds since the epoch */
export async function recordBackup(dataDir: string, startedAt: number): Promise<void> {
  const file = join(dataDir, NOTE);
  await writeFile(file, '', { mode: 0o600 })
    .then(() => utimes(file, startedAt / 1000, startedAt / 1000))
    .catch(() => undefined);
}

/** Reads when the last backup began, in milliseconds since the epoch. @returns undefined if none was made here */
export function readLastBackup(dataDir: string): number | undefined {
  return statSync(join(dataDir, NOTE), { throwIfNoEntry: false })?.mtimeMs;
}
