import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COVERAGE } from '../../acceptance/coverage.ts';

/** A file of the repository that people read. */
export interface Text {
  /** From the repository's root, with slashes. */
  readonly path: string;
  readonly content: string;
}

const FOLDERS = '{packages,acceptance,bench,bin,demo,deploy,docs,examples,infra,scripts}';
const KINDS = '{ts,tsx,mts,mjs,cjs,js,sol,py,md,sh,yaml,yml}';
/** Folders that tools install, build and measure. */
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

/** One rule of the specification. */
export interface SpecificationRule {
  /** Such as `CLAIM-3`. */
  readonly id: string;
  /** Heading of the part that it stands in, such as `Part I: the wire`. */
  readonly part: string;
  /** The rule's sentence, in one line. */
  readonly text: string;
}

/** A rule is a list item that begins with its id in bold, and may go on in indented lines. */
const RULE = /^- \*\*([A-Z]+-\d+)\*\* (.+(?:\n {2}.+)*)/;

/**
 * Reads the rules of `docs/specification.md`, in its order.
 *
 * @param root - folder of the repository
 * @throws Error if two rules have the same id
 */
export function readRules(root: string): ReadonlyMap<string, SpecificationRule> {
  const rules = new Map<string, SpecificationRule>();
  let part = '';
  for (const block of readFileSync(join(root, 'docs/specification.md'), 'utf8').split(/\n(?=# |- )/)) {
    part = /^# (.+)/.exec(block)?.[1] ?? part;
    const [, id, text] = RULE.exec(block) ?? [];
    if (id === undefined || text === undefined) continue;
    if (rules.has(id)) throw new Error(`docs/specification.md has two rules ${id}.`);
    rules.set(id, { id, part, text: text.replaceAll(/\s+/g, ' ') });
  }
  return rules;
}

/** A test that shows a rule. */
export interface ShownRule {
  readonly id: string;
  readonly path: string;
  readonly title: string;
}

const CASES = Object.values(COVERAGE).flat();
const RULES: ReadonlyMap<string, string> = new Map(CASES.map(({ id, rule }) => [id, rule]));
const TITLE = /(['"`])((?:\\.|(?!\1).)*)\1/s;

/** A test beside its code says in a comment what it shows: `// Shows PAY-3, PAY-10.`; the next title is its own. */
function* readComments({ path, content }: Text): Generator<ShownRule> {
  for (const { 0: comment, 1: list = '', index } of content.matchAll(/\/\/ Shows ((?:[A-Z]+-\d+(?:, )?)+)/g)) {
    const code = content.slice(index + comment.length).replace(/^\s*\w+(\.\w+)*\.each\(.*?\)\(/s, '');
    const title = TITLE.exec(code)?.[2] ?? '(without a title)';
    for (const [id] of list.matchAll(/[A-Z]+-\d+/g)) yield { id, path, title };
  }
}

/** An acceptance test names its cases: `covers(['claim.once'], 'one of twenty wins', …)`. */
function* readCovers({ path, content }: Text): Generator<ShownRule> {
  for (const { 1: list = '', index } of content.matchAll(/\bcovers\(\s*\[([^\]]*)\]/g)) {
    const title = TITLE.exec(content.slice(content.indexOf(']', index)))?.[2] ?? '(without a title)';
    const ids = new Set([...list.matchAll(/'([^']+)'/g)].map(([, name = '']) => RULES.get(name)));
    for (const id of ids) if (id !== undefined) yield { id, path, title };
  }
}

/** Finds the tests that show rules of the specification. */
export function findTests(texts: readonly Text[]): readonly ShownRule[] {
  const tests = texts.filter(({ path }) => path.endsWith('.test.ts') && !path.startsWith('scripts/documents/'));
  return tests.flatMap((text) => [...readComments(text), ...readCovers(text)]);
}

/** Rules of which `acceptance/coverage/` says why no black-box test can show them. */
export const EXCUSED_RULES: ReadonlySet<string> = new Set(
  CASES.filter(({ elsewhere }) => elsewhere !== undefined).map(({ rule }) => rule),
);
