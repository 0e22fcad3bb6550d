import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packCli } from './packCli.ts';
import { packedPrograms } from './stageCli.ts';

const root = join(import.meta.dirname, '../..');
let folder = '';
const unpacked = () => join(folder, 'package');
const read = (file: string) => readFileSync(join(unpacked(), file), 'utf8');

beforeAll(() => {
  mkdirSync(join(root, 'dist'), { recursive: true });
  // Below the repository, whose packages stand for those of the registry; `npm test -- --packages` installs them.
  folder = mkdtempSync(join(root, 'dist/packed-'));
  execFileSync('tar', ['-xzf', packCli(root, folder), '-C', folder]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const prism = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(unpacked(), 'bin/prism.mjs'), ...args], { encoding: 'utf8' });

/** What the modules of all programs import that is no file of the tarball. */
async function listOutside(): Promise<readonly string[]> {
  const { programs } = await import(join(unpacked(), 'bin/programs.mjs'));
  const steps = Object.values(programs as typeof packedPrograms).flatMap((program) => program.steps);
  const later = globSync('node_modules/@prism-gateway/gateway/src/entry/*/*Main.js', { cwd: unpacked() });
  const outside = new Set<string>();
  await build({
    absWorkingDir: unpacked(),
    entryPoints: [...steps.map(({ file }) => file), ...later],
    ...{ bundle: true, write: false, outdir: 'none', format: 'esm', platform: 'node', logLevel: 'error' },
    plugins: [
      {
        name: 'outside',
        setup(current) {
          current.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
            if (kind === 'entry-point' || path.startsWith('@prism-gateway/')) return undefined;
            outside.add(path);
            return { external: true };
          });
        },
      },
    ],
  });
  return [...outside];
}

test('every module that a program loads is in the tarball, or is a dependency that is pinned', async () => {
  const { dependencies, bundleDependencies } = JSON.parse(read('package.json'));
  const names = (await listOutside()).filter((path) => !path.startsWith('node:'));
  const packages = names.map((path) =>
    path
      .split('/')
      .slice(0, path.startsWith('@') ? 2 : 1)
      .join('/'),
  );
  expect(packages.filter((name) => dependencies[name] === undefined)).toEqual([]);
  expect(Object.values(dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([]);
  expect(bundleDependencies).toContain('@prism-gateway/gateway');
});

test('no TypeScript, no test, and no command of the repository that the tarball has by another name', () => {
  const files = globSync('**/*.*', { cwd: unpacked() });
  expect(files.filter((file) => /\.ts$|\.test\./.test(file))).toEqual([]);
  const names = Object.keys(packedPrograms).join('|');
  const ours = files.filter(
    (file) => /entry\/.*\.js$/.test(file) && new RegExp(`npm run (${names})\\b`).test(read(file)),
  );
  expect(ours).toEqual([]);
});

test('what the banner tells to try works where the repository is not', async () => {
  const entry = join(unpacked(), 'node_modules/@prism-gateway/gateway/src/entry');
  const { writeBanner } = await import(join(entry, 'banner.js'));
  const { parseSettings } = await import(join(entry, 'settings.js'));
  const publicUrl = 'http://127.0.0.1:9000';
  const banner = writeBanner({ settings: parseSettings({}), publicUrl, usesDevIssuer: true });
  expect(banner).toContain(`\n    npx prism walkthrough --url ${publicUrl}\n`);
  expect(banner).toContain(`\n    npx prism token alice --url ${publicUrl}\n`);
});

test('the launcher knows its programs, and one of them runs', () => {
  const { stdout, status } = prism('--help');
  expect(status).toBe(0);
  for (const name of Object.keys(packedPrograms)) expect(stdout).toContain(`\n  ${name} `);
  expect(prism('test')).toMatchObject({ status: 2, stderr: expect.stringContaining('There is no program "test"') });
  writeFileSync(join(folder, 'key'), 'k');
  const asked = prism('stats', '--url', 'http://127.0.0.1:1', '--key-file', join(folder, 'key'));
  expect(asked).toMatchObject({ status: 1, stderr: expect.stringContaining('No gateway answers') });
});
