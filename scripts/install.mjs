// Installs what the lockfile names, if it is not there yet. Runs on the machine's own Node (>= 20) before any npm script.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'node_modules', '.installed');
const lockfile = readFileSync(join(root, 'package-lock.json'), 'utf8');
const wanted = createHash('sha256').update(lockfile).update(`${process.platform} ${process.arch}`).digest('hex');

function isStamped() {
  try {
    return readFileSync(stamp, 'utf8') === wanted;
  } catch {
    return false;
  }
}

/** Whether every package is there in the version of the lockfile, as after an `npm install` by hand. */
function isInstalled() {
  const packages = Object.entries(JSON.parse(lockfile).packages);
  return packages.every(([path, { version, optional, link }]) => {
    const manifest = join(root, path, 'package.json');
    if (!path.includes('node_modules/') || link) return true;
    if (!existsSync(manifest)) return optional === true;
    return JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  });
}

function runNpm(...args) {
  // npm names itself here when it runs a script; started by hand, the one on the PATH will do.
  const npm = process.env.npm_execpath;
  const [command, ...prefix] = npm ? [process.execPath, npm] : ['npm'];
  return spawnSync(command, [...prefix, ...args], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}

/** Flags that `npm start` gives Node: what is cached under some flags is not found under others. */
function startFlags() {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

/** Compiles the server's sources once into Node's cache, so that the first start is as quick and as small as the next. */
function warmCache() {
  const sources = [
    'entry/server.ts',
    'drivers/sqlite/stores.ts',
    'entry/helper/helperThread.ts',
    'drivers/sqlite/runWriter.ts',
    'drivers/secp256k1/runRecovery.ts',
  ];
  const env = { ...process.env, NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node') };
  for (const source of sources) {
    const file = join(root, 'packages', 'gateway', 'src', source);
    spawnSync(join(root, 'node_modules', '.bin', 'node'), [...startFlags(), file, '--help'], {
      cwd: root,
      env,
      stdio: 'ignore',
    });
  }
}

if (!isStamped()) {
  if (!isInstalled()) {
    console.error('Installing dependencies, once; this takes a minute or so …');
    // Not `npm ci`: it refuses a lockfile where the registry lacks a package for some other platform.
    if (!runNpm('install', '--no-save', '--no-fund', '--no-audit', '--loglevel=error')) {
      console.error('The dependencies could not be installed: `npm install` failed. Check the network and try again.');
      process.exit(1);
    }
  }
  try {
    mkdirSync(dirname(stamp), { recursive: true });
    writeFileSync(stamp, wanted);
    warmCache();
  } catch (error) {
    // Installed by another user, whose packages this one may only read: they are looked through again at the next start.
    if (error.code !== 'EACCES' && error.code !== 'EROFS' && error.code !== 'EPERM') throw error;
  }
}
