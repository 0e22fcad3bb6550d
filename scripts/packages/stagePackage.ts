import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package on its way to the registry. */
export interface Staging {
  /** The repository. */
  readonly root: string;
  /** Its folder below `packages`. */
  readonly name: string;
  /** Where it is put together. */
  readonly folder: string;
}

/** The part of a `package.json` that is rewritten. */
interface Manifest {
  readonly [field: string]: unknown;
  readonly exports: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

/** Fields that a user of a package has no use for. */
const UNPUBLISHED_FIELDS: ReadonlySet<string> = new Set(['private', 'scripts', 'devDependencies']);

/** Compiled for a browser without types of Node: whatever only Node has is an error. */
const COMPILER_OPTIONS = {
  target: 'es2022',
  lib: ['es2022', 'es2024.string', 'dom', 'dom.iterable'],
  types: [],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  resolveJsonModule: true,
  skipLibCheck: true,
  rewriteRelativeImportExtensions: true,
  declaration: true,
  declarationMap: true,
  sourceMap: true,
  rootDir: 'src',
  outDir: 'dist',
};

/** In the workspace a package is imported as its sources; in the registry, as what was compiled of them. */
function writeExport(target: string): string | Record<string, string> {
  if (!target.startsWith('./src/')) return target;
  const compiled = target.replace('./src/', './dist/').replace(/\.ts$/, '');
  return { types: `${compiled}.d.ts`, default: `${compiled}.js` };
}

function writeManifest(manifest: Manifest): Record<string, unknown> {
  const kept = Object.entries(manifest).filter(([field]) => !UNPUBLISHED_FIELDS.has(field));
  const targets = Object.entries(manifest.exports).map(([subpath, target]) => [subpath, writeExport(target)]);
  return {
    ...Object.fromEntries(kept),
    exports: { ...Object.fromEntries(targets), './package.json': './package.json' },
    files: ['dist', ...manifest.files],
  };
}

const isPublishedSource = (path: string) => !/\.test\.ts$/.test(path);

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

/**
 * Puts a package together as it is published: its sources without their tests, what its `files` name, README, LICENSE, a
 * `package.json` whose `exports` name what will be compiled, and a `tsconfig.json` to compile it with.
 *
 * @throws Error if a file is missing
 */
export function stagePackage({ root, name, folder }: Staging): void {
  const source = join(root, 'packages', name);
  // Ours, and read by npm as well.
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest;
  mkdirSync(folder, { recursive: true });
  for (const file of manifest.files) {
    cpSync(join(source, file), join(folder, file), { recursive: true, filter: isPublishedSource });
  }
  copyFileSync(join(source, 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  if (existsSync(join(source, 'CHANGELOG.md')))
    copyFileSync(join(source, 'CHANGELOG.md'), join(folder, 'CHANGELOG.md'));
  writeJson(join(folder, 'package.json'), writeManifest(manifest));
  const entries = Object.values(manifest.exports).filter((target) => target.endsWith('.ts'));
  writeJson(join(folder, 'tsconfig.json'), { compilerOptions: COMPILER_OPTIONS, files: entries });
}
