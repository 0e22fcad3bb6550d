import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A package.json, as far as it matters here. */
interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, Target>>;
}

/** A file, or files by condition. */
type Target = string | { readonly [condition: string]: Target };

interface Package {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Where the house's packages are named in sources. */
const OURS = /['"](@prism-gateway\/[^'"\s]+)['"]/g;

/**
 * Looks for entries of packages that lead nowhere, and for those that nobody uses: an entry is a promise, and each of them is one that
 * somebody relies on. What is published promises its entries to the world.
 *
 * @param root - path of the repository
 * @returns a sentence for each fault
 */
export function findExportFaults(root: string): string[] {
  const packages = globSync('packages/*/package.json', { cwd: root }).map((path) => readPackage(root, path));
  const uses = findUses(root);
  return packages.flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([entry, target]) => {
      const name = join(manifest.name, entry);
      const missing = filesOf(target).filter((file) => isSource(file) && !existsSync(join(root, folder, file)));
      const users = uses.filter((use) => use.name === name && !use.file.startsWith(`${folder}/`));
      const isUnused = manifest.private === true && users.length === 0;
      return [
        ...missing.map((file) => `${folder} exports ${entry} as ${file}, which does not exist.`),
        ...(isUnused ? [`${folder} exports ${entry}, which nothing outside of it imports.`] : []),
      ];
    }),
  );
}

function readPackage(root: string, path: string): Package {
  return { folder: dirname(path), manifest: JSON.parse(readFileSync(join(root, path), 'utf8')) };
}

/** Every place that names one of the packages. */
function findUses(root: string): { readonly file: string; readonly name: string }[] {
  const exclude = (path: string) => /^(node_modules|dist|\.git|data)$/.test(path.split('/').at(-1) ?? '');
  const files = globSync('**/*.{ts,mjs,cjs}', { cwd: root, exclude });
  return files.flatMap((file) => {
    const names = [...readFileSync(join(root, file), 'utf8').matchAll(OURS)].map((match) => match[1]!);
    return [...new Set(names)].map((name) => ({ file, name }));
  });
}

function filesOf(target: Target): string[] {
  return typeof target === 'string' ? [target] : Object.values(target).flatMap(filesOf);
}

/** Whether a file is a source: a built one is there only once it has been built. */
const isSource = (file: string) => !file.startsWith('./dist/');
