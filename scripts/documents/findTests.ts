import type { Text } from './listTexts.ts';

/** A test that shows a rule. */
export interface ShownRule {
  readonly id: string;
  readonly path: string;
  readonly title: string;
}

const TITLE = /(['"`])((?:\\.|(?!\1).)*)\1/s;

/** A test beside its code says in a comment what it shows: `// Shows PAY-3, PAY-10.`; the next title is its own. */
function* readComments({ path, content }: Text): Generator<ShownRule> {
  for (const { 0: comment, 1: list = '', index } of content.matchAll(/\/\/ Shows ((?:[A-Z]+-\d+(?:, )?)+)/g)) {
    const code = content.slice(index + comment.length).replace(/^\s*\w+(\.\w+)*\.each\(.*?\)\(/s, '');
    const title = TITLE.exec(code)?.[2] ?? '(without a title)';
    for (const [id] of list.matchAll(/[A-Z]+-\d+/g)) yield { id, path, title };
  }
}

/** The rule of each case of `acceptance/coverage/`, unless it says that no black-box test can show it. */
function readCases(texts: readonly Text[]): ReadonlyMap<string, string> {
  const cases = new Map<string, string>();
  for (const { content } of texts.filter(({ path }) => path.startsWith('acceptance/coverage/'))) {
    for (const [, id = '', rule = ''] of content.matchAll(/id: '([^']+)',\s*rule: '([^']+)'/g)) cases.set(id, rule);
  }
  return cases;
}

/** An acceptance test names its cases: `covers(['claim.once'], 'one of twenty wins', …)`. */
function* readCovers({ path, content }: Text, cases: ReadonlyMap<string, string>): Generator<ShownRule> {
  for (const { 1: list = '', index } of content.matchAll(/\bcovers\(\s*\[([^\]]*)\]/g)) {
    const title = TITLE.exec(content.slice(content.indexOf(']', index)))?.[2] ?? '(without a title)';
    const ids = new Set([...list.matchAll(/'([^']+)'/g)].map(([, name = '']) => cases.get(name)));
    for (const id of ids) if (id !== undefined) yield { id, path, title };
  }
}

/** Finds the tests that show rules of the specification. */
export function findTests(texts: readonly Text[]): readonly ShownRule[] {
  const cases = readCases(texts);
  const tests = texts.filter(({ path }) => path.endsWith('.test.ts') && !path.startsWith('scripts/documents/'));
  return tests.flatMap((text) => [...readComments(text), ...readCovers(text, cases)]);
}

/** Rules of which `acceptance/coverage/` says why no black-box test can show them. */
export function findExcused(texts: readonly Text[]): ReadonlySet<string> {
  const coverage = texts.filter(({ path }) => path.startsWith('acceptance/coverage/'));
  const entries = coverage.flatMap(({ content }) => [
    ...content.matchAll(/\{[^{}]*rule: '([^']+)'[^{}]*elsewhere[^{}]*\}/g),
  ]);
  return new Set(entries.map(([, rule = '']) => rule));
}
