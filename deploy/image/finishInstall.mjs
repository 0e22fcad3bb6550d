// @ts-check
/**
 * Finishes the image's build after `npm install`: removes what no program loads, and leaves what the launcher would write at its first
 * start, since it may write nothing there.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programs } from '../../bin/programs.mjs';
import { warmCompileCache } from '../../bin/warmCompileCache.mjs';
import { markInstalled } from '../../scripts/install.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Development chain, engines of tests, compilers, a second copy of Node, and workspaces without a program. */
const unused = [
  ...['@foundry-rs', '@dynoxide', 'typescript', '@typescript', '@types', 'node/node_modules'],
  ...['@prism-gateway/devnet', '@prism-gateway/testing'],
].map((name) => join('node_modules', name));

for (const folder of [...unused, 'packages/devnet', 'packages/testing', 'acceptance', 'bench', 'demo']) {
  rmSync(join(root, folder), { recursive: true, force: true });
}
// Links to what was just removed.
for (const link of readdirSync(join(root, 'node_modules', '.bin'))) {
  if (link !== 'node') rmSync(join(root, 'node_modules', '.bin', link), { force: true });
}
markInstalled(root);
warmCompileCache({ root }, programs.start);
