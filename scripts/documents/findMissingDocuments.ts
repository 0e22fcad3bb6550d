import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Text } from './listTexts.ts';

/** A link or a name of a document in a comment, and where it leads to nothing. */
export interface MissingDocument {
  readonly path: string;
  readonly target: string;
}

/** Links of Markdown to files, without their anchors. */
function linksOf(content: string): string[] {
  const prose = content.replaceAll(/```[\s\S]*?```/g, '');
  return [...prose.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** Names of documents in code. Those in text that a program writes count too. */
const namesOf = (content: string) =>
  [...content.matchAll(/(?<![\w/.-])((?:[\w.-]+\/)*[\w.-]+\.md)\b/g)].map(([, name = '']) => name);

/**
 * Finds documents that are cited and do not exist. In Markdown these are links, elsewhere every name that ends in `.md`.
 *
 * @param root - folder of the repository
 */
export function findMissingDocuments(root: string, texts: readonly Text[]): readonly MissingDocument[] {
  return texts.flatMap(({ path, content }) => {
    const isMarkdown = path.endsWith('.md');
    const targets = isMarkdown ? linksOf(content) : namesOf(content);
    const here = join(root, dirname(path));
    const from = isMarkdown ? [here] : [root, here];
    return targets
      .filter((target) => !from.some((folder) => existsSync(join(folder, target))))
      .map((target) => ({ path, target }));
  });
}
