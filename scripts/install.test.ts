import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { InstallError, installPackages } from './install.mjs';

let folder: string;

/** A lockfile with one package, and a program in npm's place that writes down that it was called. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prism-install-'));
  await writeLockfile('1.0.0');
  vi.stubEnv('npm_execpath', join(folder, 'npm.cjs'));
  vi.spyOn(console, 'error').mockReturnValue();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

async function writeLockfile(version: string): Promise<void> {
  const packages = { '': {}, 'node_modules/left': { version }, 'node_modules/absent': { version, optional: true } };
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
}

async function putPackage(version: string): Promise<void> {
  await mkdir(join(folder, 'node_modules/left'), { recursive: true });
  await writeFile(join(folder, 'node_modules/left/package.json'), JSON.stringify({ version }));
}

async function writeNpm(status: number): Promise<void> {
  const code = `require('node:fs').writeFileSync('called', process.argv[2]); process.exitCode = ${status};`;
  await writeFile(join(folder, 'npm.cjs'), code);
}

const readCalled = () => readFile(join(folder, 'called'), 'utf8').catch(() => 'never');
const install = () => installPackages({ folder, contents: 'the dependencies' });

test('what npm has installed by hand is not installed again, and is looked through once', async () => {
  await writeNpm(0);
  await putPackage('1.0.0');
  expect([install(), install()]).toEqual([true, false]);
  expect(await readCalled()).toBe('never');
});

test('a package that is missing is installed', async () => {
  await writeNpm(0);
  expect(install()).toBe(true);
  expect(await readCalled()).toBe('install');
});

test('a package of another version is installed again once the lockfile changes', async () => {
  await writeNpm(0);
  await putPackage('1.0.0');
  install();
  await writeLockfile('1.0.1');
  expect(install()).toBe(true);
  expect(await readCalled()).toBe('install');
});

test('an installation that fails says so, and is tried again', async () => {
  await writeNpm(1);
  expect(install).toThrow(InstallError);
  expect(install).toThrow(`\`npm install\` failed in ${folder}`);
});
