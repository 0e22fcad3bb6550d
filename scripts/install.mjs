// @ts-check
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A failed installation with advice for the user; `message` is a sentence for a person. */
export class InstallError extends Error {
  /** @override */
  name = 'InstallError';
  code = 'INSTALL_FAILED';
}

/** @typedef {'all' | 'run'} Extent whether tests, checks and builds are to work too, or programs alone */

/**
 * Installs what a folder's lockfile names, if it is not there yet. It runs on the machine's own Node (>= 20).
 *
 * @param {object} order
 * @param {string} order.folder path of the folder with the lockfile
 * @param {string} order.contents as messages call it: `the dependencies`
 * @param {Extent} [order.extent] default `all`; with `run` a first installation takes half the time
 * @returns {boolean} whether anything may have changed since the last call
 * @throws {InstallError} `INSTALL_FAILED`
 */
export function installPackages({ folder, contents, extent = 'all' }) {
  const lockfile = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const stamp = stampFile(folder);
  const stamps = stampsOf(lockfile);
  const isDone = () => [stamps.all, ...(extent === 'run' ? [stamps.run] : [])].includes(readStamp(stamp) ?? '');
  if (isDone()) return false;
  return withLock(join(folder, '.installing'), () => !isDone() && install({ folder, contents, extent }));
}

/**
 * Runs something while no other process does: two `npm install` in one folder take each other's files away.
 *
 * @param {string} file holds the id of the process
 * @param {() => boolean} act
 */
function withLock(file, act) {
  while (!takeLock(file)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_LOOK_MS);
  try {
    return act();
  } finally {
    rmSync(file, { force: true });
  }
}

/** How often a lock is looked at, in milliseconds. */
const LOCK_LOOK_MS = 200;

/**
 * @param {string} file
 * @returns {boolean} whether this process goes on
 */
function takeLock(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    // Nobody installs if nobody may write; npm says so.
    if (code !== 'EEXIST') return true;
    if (!isAlive(Number(readStamp(file)))) rmSync(file, { force: true });
    return false;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return pid === 0 || process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/**
 * @param {object} order
 * @param {string} order.folder
 * @param {string} order.contents
 * @param {Extent} order.extent
 * @returns {boolean} whether anything may have changed
 * @throws {InstallError}
 */
function install({ folder, contents, extent }) {
  const lockfile = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const stamp = stampFile(folder);
  const stamps = stampsOf(lockfile);
  const found = readStamp(stamp);
  if (isInstalled(folder, lockfile, 'all')) return writeStamp(stamp, stamps.all);
  // To leave out is to take away as well, from who has tested before.
  const isFirst = found === undefined ? !existsSync(dirname(stamp)) : found.endsWith(RUN_MARK);
  const installed = extent === 'run' && (isFirst || isInstalled(folder, lockfile, 'run')) ? 'run' : 'all';
  if (installed === 'all' || !isInstalled(folder, lockfile, 'run')) {
    console.error(`Installing ${contents}, once; this takes a minute or so …`);
    if (!runNpmInstall(folder, installed)) {
      throw new InstallError(
        `Could not install ${contents}: \`npm install\` failed in ${folder}. Check the network and try again.`,
      );
    }
  }
  return writeStamp(stamp, stamps[installed]);
}

/**
 * Notes that all is installed that a folder's programs need, though the lockfile names more: an image leaves out what only tests load.
 *
 * @param {string} folder path of the folder with the lockfile
 */
export function markInstalled(folder) {
  writeStamp(stampFile(folder), stampsOf(readFileSync(join(folder, 'package-lock.json'), 'utf8')).all);
}

/** @param {string} folder */
const stampFile = (folder) => join(folder, 'node_modules', '.installed');

/** The end of the stamp of an installation without what only tests, checks and builds load. */
const RUN_MARK = ' run';

/**
 * @param {string} lockfile its contents
 * @returns {Record<Extent, string>}
 */
function stampsOf(lockfile) {
  const all = createHash('sha256').update(lockfile).update(`${process.platform} ${process.arch}`).digest('hex');
  return { all, run: `${all}${RUN_MARK}` };
}

/** @param {string} stamp path of the file that says for which lockfile was installed */
function readStamp(stamp) {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * @param {string} stamp
 * @param {string} wanted
 * @returns {boolean} whether it could be written
 */
function writeStamp(stamp, wanted) {
  try {
    mkdirSync(dirname(stamp), { recursive: true });
    writeFileSync(stamp, wanted);
    return true;
  } catch (error) {
    // Installed by another user, whose packages this one may only read: they are looked through again at the next start.
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return false;
    throw error;
  }
}

/**
 * Whether every package is there in the version of the lockfile, as after an `npm install` by hand.
 *
 * @param {string} folder
 * @param {string} lockfile its contents
 * @param {Extent} extent
 */
function isInstalled(folder, lockfile, extent) {
  /** @type {{ packages: Record<string, { version?: string, optional?: boolean, dev?: boolean, devOptional?: boolean, link?: boolean }> }} */
  const { packages } = JSON.parse(lockfile);
  return Object.entries(packages).every(([path, { version, optional, dev, devOptional, link }]) => {
    const manifest = join(folder, path, 'package.json');
    if (!path.includes('node_modules/')) return true;
    if (extent === 'run' && (dev === true || devOptional === true)) return true;
    if (!existsSync(manifest)) return optional === true;
    // A link's target is part of the repository.
    return link === true || JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  });
}

/**
 * @param {string} cwd folder of the lockfile
 * @param {Extent} extent
 */
function runNpmInstall(cwd, extent) {
  // npm names itself here when it runs a script; started by hand, the one on the PATH will do.
  const npm = process.env.npm_execpath;
  const [command, ...prefix] = npm ? [process.execPath, npm] : ['npm'];
  // Not `npm ci`: it refuses a lockfile where the registry lacks a package for some other platform.
  const omit = extent === 'run' ? ['--omit=dev'] : [];
  const args = [...prefix, 'install', ...omit, '--no-save', '--no-fund', '--no-audit', '--loglevel=error'];
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  return status === 0;
}
