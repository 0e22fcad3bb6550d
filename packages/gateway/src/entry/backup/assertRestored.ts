import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The folder in `DATA_DIR` that is there as long as a restore has not ended. */
export const RESTORING = '.restoring';

/**
 * Sees that no restore into the folder has stopped halfway: a gateway that started there would begin with an empty queue.
 *
 * @param dataDir - `DATA_DIR`
 * @throws Error with what to do
 */
export function assertRestored(dataDir: string): void {
  if (!existsSync(join(dataDir, RESTORING))) return;
  throw new Error(`A restore into DATA_DIR ${dataDir} has not ended: wait for it, or run it again.`);
}
