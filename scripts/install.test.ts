import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
  const packages = {
    ...{ '': {}, 'node_modules/left': { version }, 'node_modules/absent': { version, optional: true } },
    'node_modules/tool': { version, dev: true },
  };
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
}

async function putPackages(version: string, names = ['left', 'tool']): Promise<void> {
  for (const name of names) {
    await mkdir(join(folder, 'node_modules', name), { recursive: true });
    await writeFile(join(folder, 'node_modules', name, 'package.json'), JSON.stringify({ version }));
  }
}

async function writeNpm(status: number): Promise<void> {
  const code = `require('node:fs').writeFileSync('called', process.argv.slice(2, 4).join(' ')); process.exitCode = ${status};`;
  await writeFile(join(folder, 'npm.cjs'), code);
}

const readCalled = () => readFile(join(folder, 'called'), 'utf8').catch(() => 'never');
const install = (extent?: 'run') =>
  installPackages({ folder, contents: 'the dependencies', ...(extent && { extent }) });

test('what npm has installed by hand is not installed again, and is looked through once', async () => {
  await writeNpm(0);
  await putPackages('1.0.0');
  expect([install(), install()]).toEqual([true, false]);
  expect(await readCalled()).toBe('never');
});

test('a package that is missing is installed', async () => {
  await writeNpm(0);
  expect(install()).toBe(true);
  expect(await readCalled()).toBe('install --no-save');
});

test('a package of another version is installed again once the lockfile changes', async () => {
  await writeNpm(0);
  await putPackages('1.0.0');
  install();
  await writeLockfile('1.0.1');
  expect(install()).toBe(true);
  expect(await readCalled()).toBe('install --no-save');
});

test('the first program that runs has what programs load installed, and the first test the rest', async () => {
  await writeNpm(0);
  expect(install('run')).toBe(true);
  expect(await readCalled()).toBe('install --omit=dev');
  await putPackages('1.0.0', ['left']);
  expect(install('run')).toBe(false);
  expect(install()).toBe(true);
  expect(await readCalled()).toBe('install --no-save');
  await putPackages('1.0.0');
  expect([install(), install('run')]).toEqual([false, false]);
});

test('a program takes no tool away from who has tested before', async () => {
  await writeNpm(0);
  await putPackages('1.0.0');
  install();
  await writeLockfile('1.0.1');
  expect(install('run')).toBe(true);
  expect(await readCalled()).toBe('install --no-save');
});

test('a program needs no tool that is not there', async () => {
  await writeNpm(0);
  await putPackages('1.0.0', ['left']);
  expect([install('run'), install('run')]).toEqual([true, false]);
  expect(await readCalled()).toBe('never');
});

test('an installation that fails says so, and is tried again', async () => {
  await writeNpm(1);
  expect(install).toThrow(InstallError);
  expect(install).toThrow(`\`npm install\` failed in ${folder}`);
});

test('two that install at once do so one after the other, and the second finds it done', async () => {
  // Fails beside another one, and takes long enough for that.
  const code = `const { mkdirSync, rmdirSync, writeFileSync, appendFileSync } = require('node:fs');
    mkdirSync('busy'); appendFileSync('called', 'x');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    mkdirSync('node_modules/left', { recursive: true }); mkdirSync('node_modules/tool', { recursive: true });
    for (const name of ['left', 'tool']) writeFileSync('node_modules/' + name + '/package.json', '{"version":"1.0.0"}');
    rmdirSync('busy');`;
  await writeFile(join(folder, 'npm.cjs'), code);
  const script = `import { installPackages } from ${JSON.stringify(new URL('./install.mjs', import.meta.url).href)};
    installPackages({ folder: ${JSON.stringify(folder)}, contents: 'the dependencies' });`;
  const runs = [1, 2].map(() => spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' }));
  expect(await Promise.all(runs.map((child) => once(child, 'close')))).toEqual([
    [0, null],
    [0, null],
  ]);
  expect(await readCalled()).toBe('x');
});

test('a lock of a process that is gone holds nobody up', async () => {
  await writeNpm(0);
  await writeFile(join(folder, '.installing'), '999999999');
  expect(install()).toBe(true);
});
