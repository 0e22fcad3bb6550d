import type { Text } from './listTexts.ts';

/** A place where a rule is cited. */
export interface Citation {
  readonly path: string;
  readonly line: number;
  readonly id: string;
}

const lineAt = (content: string, index: number) => content.slice(0, index).split('\n').length;

/** Ids that a text cites: those of a known section, and whatever stands behind the specification's name. */
function* idsOf(content: string, known: RegExp): Generator<{ readonly id: string; readonly index: number }> {
  for (const { 0: id, index } of content.matchAll(known)) yield { id, index };
  for (const { 1: list = '', index } of content.matchAll(/specification\.md ((?:[A-Z]+-\d+(?:, )?)+)/g)) {
    for (const [id] of list.matchAll(/[A-Z]+-\d+/g)) yield { id, index };
  }
}

/**
 * Finds where rules of the specification are cited.
 *
 * @param texts - sources and documents
 * @param sections - what the ids begin with, such as `CLAIM`
 */
export function findCitations(texts: readonly Text[], sections: readonly string[]): readonly Citation[] {
  const known = new RegExp(`(?<![\\w-])(?:${sections.join('|')})-\\d+(?![\\w-])`, 'g');
  return texts.flatMap(({ path, content }) =>
    [...idsOf(content, known)].map(({ id, index }) => ({ path, line: lineAt(content, index), id })),
  );
}
