import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The scope whose links must lead into the copy, not to the original. */
const OURS = '@prism-gateway';

/**
 * Copies the repository as it stands, changes that are not committed included, so that its files may be spoilt. What is installed is
 * linked to.
 *
 * @param root - the repository
 * @param to - an empty folder
 */
export function copyRepository(root: string, to: string): void {
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard', '--deduplicate'], { cwd: root });
  for (const file of listed.toString().split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    // Files deleted and not committed are listed too.
    cpSync(join(root, file), join(to, file), { force: true, errorOnExist: false, filter: () => true });
  }
  mkdirSync(join(to, 'node_modules', OURS), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== OURS) symlinkSync(join(root, 'node_modules', name), join(to, 'node_modules', name));
  }
  // The links of workspaces are relative: they lead into the copy.
  cpSync(join(root, 'node_modules', OURS), join(to, 'node_modules', OURS), { recursive: true, verbatimSymlinks: true });
  for (const folder of readdirSync(join(root, 'packages'))) linkNested(root, { to, folder: join('packages', folder) });
  for (const folder of ['acceptance', 'bench', 'demo']) linkNested(root, { to, folder });
}

/** Links to what a workspace has installed for itself. */
function linkNested(root: string, { to, folder }: { readonly to: string; readonly folder: string }): void {
  const modules = join(root, folder, 'node_modules');
  if (readdirSync(join(root, folder)).includes('node_modules')) symlinkSync(modules, join(to, folder, 'node_modules'));
}
