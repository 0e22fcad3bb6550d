import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { type Program, programs } from './programs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const all: readonly Program[] = Object.values(programs);

test('every file and folder that a program names is there', () => {
  const steps = all.flatMap((program) => program.steps.map((step) => step.file));
  const files = [
    ...steps,
    ...all.flatMap(({ loadsLater = [], alsoInstalls = [] }) => [...loadsLater, ...alsoInstalls]),
  ];
  expect(files.filter((file) => !existsSync(`${root}${file}`))).toEqual([]);
});

test('each script of npm is a program by its name', () => {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const names = Object.keys(scripts);
  expect(names.filter((name) => !Object.hasOwn(programs, name))).toEqual([]);
  expect(scripts).toEqual(Object.fromEntries(names.map((name) => [name, `exec node bin/prism.mjs ${name}`])));
});

/** Names of the packages that files load, and what they import loads. */
async function listPackages(files: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  await build({
    absWorkingDir: root,
    entryPoints: [...files],
    ...{ bundle: true, write: false, outdir: 'none', format: 'esm', platform: 'node', logLevel: 'error' },
    plugins: [
      {
        name: 'packages',
        setup(current) {
          current.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
            if (kind === 'entry-point' || path.startsWith('@prism-gateway/')) return undefined;
            found.add(/^(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path);
            return { external: true };
          });
        },
      },
    ],
  });
  return found;
}

test('a program that is run loads nothing that the first installation leaves out', async () => {
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
  const isTool = (name: string) => packages[`node_modules/${name}`]?.dev === true;
  const run = all.filter(({ group, usesTools }) => (group === 'run' || group === 'try') && usesTools !== true);
  const files = run.flatMap(({ steps, loadsLater = [] }) => [...steps.map(({ file }) => file), ...loadsLater]);
  expect([...(await listPackages(files))].filter(isTool)).toEqual([]);
  for (const { steps } of all.filter(({ usesTools }) => usesTools === true)) {
    expect([...(await listPackages(steps.map(({ file }) => file)))].some(isTool)).toBe(true);
  }
});
