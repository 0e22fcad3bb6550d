import { access, constants, glob } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Where Debian and Red Hat keep PostgreSQL's server programs, off the PATH. */
const furtherFolders: readonly string[] = ['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin'];

/**
 * Finds a program on the PATH, or where a distribution keeps PostgreSQL's.
 *
 * @param name of the program
 * @returns its path, or undefined
 */
export async function findBinary(name: string): Promise<string | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const installed: string[] = [];
  for await (const folder of glob(furtherFolders)) installed.push(folder);
  // The newest version first.
  folders.push(...installed.toSorted().toReversed());
  for (const folder of folders) {
    const path = join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
