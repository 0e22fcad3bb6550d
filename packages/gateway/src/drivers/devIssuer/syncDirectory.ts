import { open } from 'node:fs/promises';

/**
 * Makes the names in a directory survive power loss.
 *
 * @param directory - path of an existing directory
 */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}
