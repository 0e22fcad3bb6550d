import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXCUSED_RULES, findTests, listTexts, readRules, type Text } from './rules.ts';

const root = join(import.meta.dirname, '../..');
const rules = readRules(root);
// What the tests of this folder write about rules that do not exist is no citation.
const texts = listTexts(root).filter(({ path }) => !path.startsWith('scripts/documents/'));
const sections = [...new Set([...rules.keys()].map((id) => id.replace(/-\d+$/, '')))];
const shown = new Set(findTests(texts).map(({ id }) => id));
const WIRE = 'Part I: the wire';

describe('the specification', () => {
  test('has rules in each part', () => {
    const parts = new Set([...rules.values()].map(({ part }) => part));
    expect([...parts]).toEqual([WIRE, 'Part II: running the gateway', 'Part III: the chain', 'Part IV: the daemons']);
    expect(rules.size).toBeGreaterThan(150);
  });

  test('has every rule that is cited anywhere', () => {
    const citations = findCitations(texts, sections);
    expect(citations.filter(({ path }) => !path.startsWith('docs/')).length).toBeGreaterThan(100);
    const unknown = citations.filter(({ id }) => !rules.has(id));
    expect(unknown.map(({ path, line, id }) => `${path}:${line} cites ${id}`)).toEqual([]);
  });

  test('has an acceptance test of every rule of the wire, or a reason why there is none', () => {
    const covered = new Set(findTests(texts.filter(({ path }) => path.startsWith('acceptance/'))).map(({ id }) => id));
    const wire = [...rules.values()].filter(({ part }) => part === WIRE);
    const missing = wire.filter(({ id }) => !covered.has(id) && !EXCUSED_RULES.has(id));
    expect(missing.map(({ id, text }) => `${id}: ${text}`)).toEqual([]);
  });

  test('has a test of every rule', () => {
    const missing = [...rules.values()].filter(({ id }) => !shown.has(id));
    expect(missing.map(({ id, text }) => `${id}: ${text}`)).toEqual([]);
  });
});

describe('what this test reads', () => {
  const text = (path: string, content: string) => ({ path, content });

  test('a test shows the rules that its comment names', () => {
    const source = "// Shows PAY-3, PAY-10.\ntest('it\\'s paid once', () => {});\n\ntest('another', () => {});";
    expect(findTests([text('packages/x/a.test.ts', source)])).toEqual([
      { id: 'PAY-3', path: 'packages/x/a.test.ts', title: "it\\'s paid once" },
      { id: 'PAY-10', path: 'packages/x/a.test.ts', title: "it\\'s paid once" },
    ]);
  });

  test('an acceptance test shows the rules of the cases that it covers', () => {
    const source = "covers(['claimRequests.200'], 'one of twenty wins', async () => {});";
    expect(findTests([text('acceptance/tests/a.test.ts', source)])).toEqual([
      { id: 'BATCH-1', path: 'acceptance/tests/a.test.ts', title: 'one of twenty wins' },
    ]);
  });

  test('a citation is an id of a section, and whatever follows the name of the specification', () => {
    const source = '/** @see docs/specification.md CLAIM-3, NOWHERE-1; EIP-712 */\n// CLAIM-99, but not XCLAIM-1';
    const found = findCitations([text('a.ts', source)], ['CLAIM']);
    expect([...new Set(found.map(({ id, line }) => `${line} ${id}`))].sort()).toEqual([
      '1 CLAIM-3',
      '1 NOWHERE-1',
      '2 CLAIM-99',
    ]);
  });

  test('a document that is cited and not there is found', () => {
    const given = [
      text('docs/a.md', '[here](specification.md#part-i) [there](nowhere.md) [out](https://example.org/x.md)'),
      text('packages/x.ts', '/** @see docs/specification.md; GONE.md */'),
    ];
    expect(findMissingDocuments(root, given)).toEqual([
      { path: 'docs/a.md', target: 'nowhere.md' },
      { path: 'packages/x.ts', target: 'GONE.md' },
    ]);
  });

  test('a long cell and a padded one are found', () => {
    const table = `| a | b |\n| --- | --- |\n| c | ${'d'.repeat(101)} |\n| e      | f |`;
    expect(findProseInTables([text('docs/a.md', table)])).toEqual([
      { path: 'docs/a.md', line: 3, fault: 'long' },
      { path: 'docs/a.md', line: 4, fault: 'padded' },
    ]);
  });

  test('a path that a document names and that is not there is found', () => {
    const given = [text('docs/a.md', 'See `docs/specification.md`, `packages/nowhere/x.ts` and `npm run x`.')];
    expect(findMissingPaths(root, given)).toEqual([{ path: 'docs/a.md', target: 'packages/nowhere/x.ts' }]);
  });

  test('a name that a table says is in a file, and is not declared there, is found', () => {
    const file = 'packages/relayer/src/lifecycle/runRound.ts';
    const row = (name: string) => `| what begins a round? | \`${name}\` | \`${file}\` |`;
    expect(findMissingNames(root, text('docs/a.md', `${row('runRound')}\n${row('gone')}`))).toEqual([
      { path: 'docs/a.md', target: `gone in ${file}` },
    ]);
  });
});

test('tables hold short facts, and no cell is padded', () => {
  expect(findProseInTables(texts)).toEqual([]);
});

test('every section that code names by its heading exists', () => {
  const named = texts.flatMap(({ path, content }) =>
    [...content.matchAll(/\b(docs\/[\w-]+\.md), "([^"$\n]+)"/g)].map(([, document = '', heading = '']) => ({
      path,
      document,
      heading,
    })),
  );
  const isThere = ({ document, heading }: (typeof named)[number]) =>
    readFileSync(join(root, document), 'utf8')
      .split('\n')
      .some((line) => /^#+ /.test(line) && line.endsWith(` ${heading}`));
  expect(named.length).toBeGreaterThan(9);
  expect(named.filter((one) => !isThere(one))).toEqual([]);
});

test('each name of the table of questions is declared where it says', () => {
  const architecture = texts.filter(({ path }) => path === 'docs/architecture.md');
  expect(architecture.flatMap(({ content }) => [...content.matchAll(NAME_ROW)]).length).toBeGreaterThan(9);
  expect(architecture.flatMap((document) => findMissingNames(root, document))).toEqual([]);
});

test('every document that is cited exists', () => {
  expect(findMissingDocuments(root, texts).map(({ path, target }) => `${path} cites ${target}`)).toEqual([]);
});

test('every path that a document names exists', () => {
  expect(findMissingPaths(root, texts).map(({ path, target }) => `${path} names ${target}`)).toEqual([]);
});

test('every dependency is named with its reason', () => {
  expect(findUnnamedDependencies(root)).toEqual([]);
});

test('the README names every command', () => {
  expect(findUnnamedCommands(root)).toEqual([]);
});

/** A place where a rule is cited. */
interface Citation {
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
function findCitations(texts: readonly Text[], sections: readonly string[]): readonly Citation[] {
  const known = new RegExp(`(?<![\\w-])(?:${sections.join('|')})-\\d+(?![\\w-])`, 'g');
  return texts.flatMap(({ path, content }) =>
    [...idsOf(content, known)].map(({ id, index }) => ({ path, line: lineAt(content, index), id })),
  );
}

/** A link or a name of a document in a comment, and where it leads to nothing. */
interface MissingDocument {
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
 */
function findMissingDocuments(root: string, texts: readonly Text[]): readonly MissingDocument[] {
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

/** But for files of settings, which operators write. */
const PATH = /`((?:packages|acceptance|bench|bin|demo|docs|examples|infra|scripts)\/[\w./-]+(?<!\.env))`/g;

/**
 * Finds paths that documents name in code marks and that do not exist.
 */
function findMissingPaths(root: string, texts: readonly Text[]): readonly MissingDocument[] {
  return texts
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, content }) => [...content.matchAll(PATH)].map(([, target = '']) => ({ path, target })))
    .filter(({ target }) => !existsSync(join(root, target)));
}

/** A row of a table that says which name answers a question, and in which file it stands. */
const NAME_ROW = /^\| [^|]+ \| `(\w+)` \| `([\w./-]+\.ts)` \|$/gm;

/** Finds names that a table says are declared in a file, and are not. */
function findMissingNames(root: string, { path, content }: Text): readonly MissingDocument[] {
  return [...content.matchAll(NAME_ROW)].flatMap(([, name = '', file = '']) => {
    const source = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '';
    const isDeclared = new RegExp(`^(?:export )?(?:async )?(?:function|const|interface) ${name}\\b`, 'm').test(source);
    return isDeclared ? [] : [{ path, target: `${name} in ${file}` }];
  });
}

/** Longest cell of a table, in characters: what is longer is prose. */
const MAX_CELL_LENGTH = 100;

/** A cell of a table that should be text, or that is padded. */
interface BadCell {
  readonly path: string;
  readonly line: number;
  readonly fault: 'long' | 'padded';
}

/**
 * Finds cells of tables in Markdown that hold prose, and cells that are padded to the widest of their column, so that a new row would
 * change all others.
 */
function findProseInTables(texts: readonly Text[]): readonly BadCell[] {
  return texts
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, content }) => {
      let isCode = false;
      return content.split('\n').flatMap((text, index): BadCell[] => {
        if (text.startsWith('```')) isCode = !isCode;
        if (isCode || !text.startsWith('|')) return [];
        const cells = text.split(/(?<!\\)\|/).slice(1, -1);
        const faults = new Set<BadCell['fault']>();
        for (const cell of cells) {
          if (cell.trim().length > MAX_CELL_LENGTH) faults.add('long');
          if (/^ {2,}\S|\S {2,}$|-{4,}/.test(cell)) faults.add('padded');
        }
        return [...faults].map((fault) => ({ path, line: index + 1, fault }));
      });
    });
}

/**
 * Finds commands of package.json that the README does not name.
 */
function findUnnamedCommands(root: string): readonly string[] {
  const read = (name: string) => readFileSync(join(root, name), 'utf8');
  // It is npm's own form.
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const readme = read('README.md');
  const isNamed = (name: string) => new RegExp(`npm (run )?${name}(?![\\w:-])`).test(readme);
  return Object.keys(scripts).filter((name) => !isNamed(name));
}

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;

type Manifest = Readonly<Partial<Record<(typeof KINDS)[number], Readonly<Record<string, string>>>>>;

/**
 * Finds dependencies that `docs/dependencies.md` does not name.
 * @returns each with the package.json that asks for it
 */
function findUnnamedDependencies(root: string): readonly string[] {
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
