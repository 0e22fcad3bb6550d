import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Finds commands of package.json that the README does not name.
 *
 * @param root - folder of the repository
 */
export function findUnnamedCommands(root: string): readonly string[] {
  const read = (name: string) => readFileSync(join(root, name), 'utf8');
  // It is npm's own form.
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const readme = read('README.md');
  const isNamed = (name: string) => new RegExp(`npm (run )?${name}(?![\\w:-])`).test(readme);
  return Object.keys(scripts).filter((name) => !isNamed(name));
}
