import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;

type Manifest = Readonly<Partial<Record<(typeof KINDS)[number], Readonly<Record<string, string>>>>>;

/**
 * Finds dependencies that `docs/dependencies.md` does not name.
 *
 * @param root - folder of the repository
 * @returns each with the package.json that asks for it
 */
export function findUnnamedDependencies(root: string): readonly string[] {
  const document = readFileSync(join(root, 'docs/dependencies.md'), 'utf8');
  return globSync(['package.json', '{acceptance,bench,demo,infra}/package.json', 'packages/*/package.json'], {
    cwd: root,
  }).flatMap((path) => {
    // It is npm's own form.
    const manifest = JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest;
    const names = KINDS.flatMap((kind) => Object.keys(manifest[kind] ?? {}));
    const foreign = names.filter((name) => !name.startsWith('@prism-gateway/'));
    return foreign.filter((name) => !document.includes(`\`${name}\``)).map((name) => `${path}: ${name}`);
  });
}
