import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stagePackage } from './stagePackage.ts';

/** The published packages, each after those it depends on. */
export const PUBLISHED_PACKAGES = ['protocol', 'contracts', 'sdk'] as const;

/** A package as it goes to the registry. */
export interface Tarball {
  /** Like `@prism-gateway/sdk`. */
  readonly name: string;
  readonly version: string;
  /** Where the `.tgz` is. */
  readonly path: string;
  /** Bytes of the `.tgz`. */
  readonly bytes: number;
  /** Bytes of all its files. */
  readonly unpackedBytes: number;
  /** SHA-256 of the `.tgz`, as hex: the same sources give the same. */
  readonly sha256: string;
}

/** A tarball in the output of `npm pack --json`. */
interface PackReport {
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly unpackedSize: number;
}

/** The compiler writes `./x.js` for `./x.ts` in JavaScript, but leaves declarations as they are: users have no `./x.ts` there. */
function renameDeclarationImports(declaration: string): string {
  return declaration.replaceAll(/(from |import\()(['"])(\.[^'"]*)\.ts\2/g, '$1$2$3.js$2');
}

/** Compiles a staged package: JavaScript for Node 20 and browsers of its age, declarations, and source maps. */
function compile(root: string, folder: string): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', folder], { stdio: ['ignore', 'inherit', 'inherit'] });
  for (const path of globSync(join(folder, 'dist/**/*.d.ts'))) {
    writeFileSync(path, renameDeclarationImports(readFileSync(path, 'utf8')));
  }
}

function packFolder(folder: string, destination: string): Tarball {
  const args = ['pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', destination];
  const printed = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  // As npm documents it: one entry a tarball.
  const [report] = JSON.parse(printed) as [PackReport];
  const path = join(destination, report.filename);
  const content = readFileSync(path);
  return {
    name: report.name,
    version: report.version,
    path,
    bytes: content.byteLength,
    unpackedBytes: report.unpackedSize,
    sha256: createHash('sha256').update(content).digest('hex'),
  };
}

/**
 * Puts the packages that the SDK is made of into it, so that its tarball alone can be installed; what those take from the registry it takes.
 *
 * @param staged - folder of all staged packages
 * @param folder - that of the SDK
 */
function bundleOwn(staged: string, folder: string): void {
  // Staged a moment ago.
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as { dependencies?: Record<string, string> };
  const manifest = read(join(folder, 'package.json'));
  const bundled = Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith('@prism-gateway/'));
  const further = bundled.map((name) => {
    const from = join(staged, name.replace('@prism-gateway/', ''));
    cpSync(from, join(folder, 'node_modules', name), { recursive: true });
    return Object.entries(read(join(from, 'package.json')).dependencies ?? {});
  });
  const others = further.flat().filter(([name]) => !bundled.includes(name));
  const dependencies = { ...manifest.dependencies, ...Object.fromEntries(others) };
  const whole = { ...manifest, dependencies, bundleDependencies: bundled };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(whole, undefined, 2)}\n`);
}

/**
 * Builds the published packages and makes their tarballs. Each is compiled against the declarations of those before it, so
 * that what is compiled here is what a user's compiler will see.
 *
 * @param root - the repository
 * @param destination - folder that the tarballs go to; what was in it is removed
 * @returns the tarballs, in the order of `PUBLISHED_PACKAGES`
 * @throws Error if a package does not compile
 */
export function packPackages(root: string, destination: string): readonly Tarball[] {
  rmSync(destination, { recursive: true, force: true });
  mkdirSync(destination, { recursive: true });
  mkdirSync(join(root, 'dist'), { recursive: true });
  // Below the repository, from where compilers find viem and zod; of its own, since tests pack as well.
  const staging = mkdtempSync(join(root, 'dist/staging-'));
  try {
    return PUBLISHED_PACKAGES.map((name) => {
      const folder = join(staging, 'packages', name);
      stagePackage({ root, name, folder });
      compile(root, folder);
      const link = join(staging, 'node_modules/@prism-gateway', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(folder, link);
      if (name === 'sdk') bundleOwn(join(staging, 'packages'), folder);
      return packFolder(folder, destination);
    });
  } finally {
    rmSync(staging, { recursive: true });
  }
}
