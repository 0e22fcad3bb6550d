import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listNodePackages } from '../../bin/findNode.mjs';
import { type Program, programs } from '../../bin/programs.mjs';
import { compileModule } from './compileModule.ts';

/** The part of a `package.json` that is read. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Where our own packages are in the tarball, which bundles them. */
const OWN = 'node_modules/@prism-gateway';
/** Programs for trying things out that operators have a use for as well. */
const TRIED: ReadonlySet<string> = new Set(['token', 'devnet', 'walkthrough']);
/** Sources without tests and rigs, in packages and in `acceptance`. */
const SOURCES = ['{src,page,walkthrough}/**/*.*', 'rig/defaultTarget.ts'];
/** Only the development chain needs it, and it is large: an installation without it works otherwise. */
const ANVIL = '@foundry-rs/anvil';
const LAUNCHER = ['chooseProgram', 'findNearest', 'findNode', 'findProgram', 'runNode', 'toRun', 'writeHelp'];

/** The programs of the tarball by name, as they are in the repository. */
export const packedPrograms: Readonly<Record<string, Program>> = Object.fromEntries(
  Object.entries(programs as Readonly<Record<string, Program>>).filter(
    ([name, { group }]) => group === 'run' || TRIED.has(name),
  ),
);

const readManifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
const toCompiled = (path: string) => path.replace(/\.ts$/, '.js');
/** From the root: packages are in `packages`, and `acceptance` is beside them. */
const withoutParent = (path: string) => path.replace(/^packages\//, '');
const folderOf = (root: string, name: string) => join(root, name === 'acceptance' ? '' : 'packages', name);

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const writeJson = (path: string, value: unknown) => write(path, `${JSON.stringify(value, undefined, 2)}\n`);

/** Compiles a package's modules, and copies what they read. */
function stageOwn(root: string, { name, folder }: { readonly name: string; readonly folder: string }): Manifest {
  const source = folderOf(root, name);
  const manifest = readManifest(source);
  for (const path of globSync(SOURCES, { cwd: source })) {
    if (/\.(test|d)\.ts$/.test(path)) continue;
    const text = readFileSync(join(source, path), 'utf8');
    write(join(folder, toCompiled(path)), path.endsWith('.ts') ? compileModule(text) : text);
  }
  const { version, exports = {} } = manifest;
  const compiled = Object.fromEntries(Object.entries(exports).map(([subpath, file]) => [subpath, toCompiled(file)]));
  // Without dependencies: those of all are the tarball's own.
  writeJson(join(folder, 'package.json'), { name: manifest.name, version, type: 'module', exports: compiled });
  return manifest;
}

/** Names of the packages that programs need, each after one that needs it. */
function findOwn(root: string): readonly string[] {
  const files = Object.values(packedPrograms).flatMap(({ steps }) => steps.map(({ file }) => withoutParent(file)));
  const found = new Set(files.map((file) => file.slice(0, file.indexOf('/'))));
  // Files found are looked through in their turn.
  for (const name of found) {
    const { dependencies = {} } = readManifest(folderOf(root, name));
    for (const needed of Object.keys(dependencies)) {
      if (needed.startsWith('@prism-gateway/')) found.add(needed.slice('@prism-gateway/'.length));
    }
  }
  return [...found];
}

/** The registry's dependencies, each in the one version that the repository is tested with. @throws Error for two versions, or none */
function gatherDependencies(manifests: readonly Manifest[]): Record<string, string> {
  const pinned = new Map<string, string>();
  for (const [name, version] of manifests.flatMap(({ dependencies = {} }) => Object.entries(dependencies))) {
    // A range is what the published packages ask of users; another of ours pins it.
    if (name.startsWith('@prism-gateway/') || !/^\d/.test(version)) continue;
    if ((pinned.get(name) ?? version) !== version) throw new Error(`${name} is wanted in two versions.`);
    pinned.set(name, version);
  }
  return Object.fromEntries([...pinned].sort());
}

function stageLauncher(root: string, folder: string): void {
  for (const name of LAUNCHER)
    write(join(folder, `bin/${name}.mjs`), readFileSync(join(root, `bin/${name}.mjs`), 'utf8'));
  copyFileSync(join(root, 'bin/packed.mjs'), join(folder, 'bin/prism.mjs'));
  chmodSync(join(folder, 'bin/prism.mjs'), 0o755);
  const table = Object.entries(packedPrograms).map(([name, { summary, group, steps }]) => {
    const compiled = steps.map((step) => ({ ...step, file: `${OWN}/${toCompiled(withoutParent(step.file))}` }));
    return [name, { summary, group, steps: compiled }];
  });
  const text = `export const programs = ${JSON.stringify(Object.fromEntries(table), undefined, 2)};\n`;
  write(join(folder, 'bin/programs.mjs'), `${text}export const compileCache = 'node_modules/.cache/node';\n`);
}

/**
 * Puts the command line together as it is packed: the launcher, every package of ours that its programs need, compiled file by file with
 * what they read, and a `package.json` that pins what the registry has.
 *
 * @param root - the repository
 * @param folder - where to; empty
 * @throws Error if two packages want different versions of a third
 */
export function stageCli(root: string, folder: string): void {
  const own = findOwn(root);
  const manifests = own.map((name) => stageOwn(root, { name, folder: join(folder, OWN, name) }));
  const { [ANVIL]: anvil, ...dependencies } = gatherDependencies(manifests);
  stageLauncher(root, folder);
  for (const file of ['LICENSE', 'packages/cli/README.md'])
    copyFileSync(join(root, file), join(folder, file.split('/').at(-1) ?? ''));
  const { version, dependencies: { node } = {} } = readManifest(root);
  const bundled = own.map((name) => `@prism-gateway/${name}`).sort();
  writeJson(join(folder, 'package.json'), {
    name: 'prism-gateway',
    version,
    description: 'Prism Gateway: its programs, and the commands of its operators.',
    license: 'MIT',
    type: 'module',
    bin: { prism: 'bin/prism.mjs' },
    files: ['bin', 'README.md', 'LICENSE'],
    engines: { node: '>=20' },
    dependencies: { ...dependencies, ...Object.fromEntries(manifests.map(({ name, version: own }) => [name, own])) },
    optionalDependencies: {
      [ANVIL]: anvil,
      ...Object.fromEntries(listNodePackages().map((name) => [name, node])),
    },
    bundleDependencies: bundled,
  });
}
