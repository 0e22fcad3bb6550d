import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file of the repository that people read. */
export interface Text {
  /** From the repository's root, with slashes. */
  readonly path: string;
  readonly content: string;
}

const FOLDERS = '{packages,acceptance,bench,bin,demo,deploy,docs,examples,infra,scripts}';
const KINDS = '{ts,tsx,mts,mjs,cjs,js,sol,py,md,sh,yaml,yml}';
/** What tools install, build and measure. */
const FOREIGN = /(^|\/)(node_modules|dist|data|\.cache|cdk\.out|generated|__pycache__)(\/|$)/;

/**
 * Lists the sources and documents of the repository.
 *
 * @param root - folder of the repository
 */
export function listTexts(root: string): readonly Text[] {
  const patterns = [`${FOLDERS}/**/*.${KINDS}`, `*.${KINDS}`];
  const paths = globSync(patterns, { cwd: root, exclude: (path) => FOREIGN.test(path) });
  return [...new Set(paths)]
    .sort()
    .map((path) => ({ path: path.replaceAll('\\', '/'), content: readFileSync(join(root, path), 'utf8') }));
}
