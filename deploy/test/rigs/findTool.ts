import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where Debian puts what only an administrator runs. */
const ADMIN_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/**
 * Finds a program of the system.
 *
 * @param name - as it is called
 * @param debianPackage - what to install if it is missing
 * @returns its path; undefined, and said so, if it is not there and need not be
 * @throws Error if it is missing and `REQUIRE_DEPLOY_TOOLS` is `true`
 */
export function findTool(name: string, debianPackage: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...ADMIN_FOLDERS];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found !== undefined) return found;
  const advice = `There is no ${name} here: apt-get install ${debianPackage}.`;
  if (process.env.REQUIRE_DEPLOY_TOOLS === 'true') throw new Error(advice);
  console.warn(`${advice} Its tests are left out.`);
  return undefined;
}
