import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MissingDocument } from './findMissingDocuments.ts';
import type { Text } from './listTexts.ts';

/** But for files of settings, which operators write. */
const PATH = /`((?:packages|acceptance|bench|bin|demo|docs|examples|infra|scripts)\/[\w./-]+(?<!\.env))`/g;

/**
 * Finds paths that documents name in code marks and that do not exist.
 *
 * @param root - folder of the repository
 */
export function findMissingPaths(root: string, texts: readonly Text[]): readonly MissingDocument[] {
  return texts
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, content }) => [...content.matchAll(PATH)].map(([, target = '']) => ({ path, target })))
    .filter(({ target }) => !existsSync(join(root, target)));
}
