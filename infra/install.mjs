// Installs what this folder's lockfile names, if it is not there yet; on the machine's own Node (>= 20). It stands outside of the
// workspaces: the construct library weighs 220 MB, and only who deploys to AWS needs it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const stamp = join(here, 'node_modules', '.installed');
const wanted = createHash('sha256')
  .update(readFileSync(join(here, 'package-lock.json')))
  .digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  console.error('Installing the AWS construct library, once; this takes ten seconds or so …');
  // npm names itself here when it runs a script; started by hand, the one on the PATH will do.
  const npm = process.env.npm_execpath;
  const [command, ...prefix] = npm ? [process.execPath, npm] : ['npm'];
  const options = ['install', '--no-save', '--no-fund', '--no-audit', '--loglevel=error'];
  const { status } = spawnSync(command, [...prefix, ...options], {
    cwd: here,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) {
    console.error('It could not be installed: `npm install` failed in infra/. Check the network and try again.');
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}
