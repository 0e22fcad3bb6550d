import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stageCli } from './stageCli.ts';

/**
 * Makes the tarball of `prism`: every program that operators run, as JavaScript, with its dependencies pinned.
 *
 * @param root - the repository
 * @param destination - folder that the tarball goes to; made if it is missing
 * @returns path of the tarball
 */
export function packCli(root: string, destination: string): string {
  mkdirSync(destination, { recursive: true });
  mkdirSync(join(root, 'dist'), { recursive: true });
  const folder = mkdtempSync(join(root, 'dist/cli-'));
  try {
    stageCli(root, folder);
    const args = ['pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', destination];
    const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }));
    return join(destination, filename);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
