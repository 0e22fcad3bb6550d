import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROUTES } from '@prism-gateway/protocol';
import { describe, expect, test } from 'vitest';
import { findCitations } from './findCitations.ts';
import { findMissingDocuments } from './findMissingDocuments.ts';
import { findMissingPaths } from './findMissingPaths.ts';
import { findProseInTables } from './findProseInTables.ts';
import { findExcused, findTests } from './findTests.ts';
import { findUnnamedCommands } from './findUnnamedCommands.ts';
import { findUnnamedDependencies } from './findUnnamedDependencies.ts';
import { listTexts } from './listTexts.ts';
import { readRules } from './readRules.ts';

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

  test('has the row of every route, with its access, its success and its errors', () => {
    const specification = readFileSync(join(root, 'docs/specification.md'), 'utf8');
    for (const { method, path, access, success, errors } of Object.values(ROUTES)) {
      const start = `| \`${method} ${path}\` | ${access}`;
      const row = specification.split('\n').find((line) => line.startsWith(start));
      expect(row, start).toContain(`| ${success} | ${errors.join(', ')} |`);
    }
  });

  test('has every rule that is cited anywhere', () => {
    const citations = findCitations(texts, sections);
    expect(citations.filter(({ path }) => !path.startsWith('docs/')).length).toBeGreaterThan(100);
    const unknown = citations.filter(({ id }) => !rules.has(id));
    expect(unknown.map(({ path, line, id }) => `${path}:${line} cites ${id}`)).toEqual([]);
  });

  test('has an acceptance test of every rule of the wire, or a reason why there is none', () => {
    const covered = new Set(findTests(texts.filter(({ path }) => path.startsWith('acceptance/'))).map(({ id }) => id));
    const excused = findExcused(texts);
    const wire = [...rules.values()].filter(({ part }) => part === WIRE);
    const missing = wire.filter(({ id }) => !covered.has(id) && !excused.has(id));
    expect(missing.map(({ id, text }) => `${id}: ${text}`)).toEqual([]);
  });

  test('has a test of every other rule', () => {
    const others = [...rules.values()].filter(({ part }) => part !== WIRE);
    const missing = others.filter(({ id }) => !shown.has(id));
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
    const coverage =
      "{ id: 'claim.once', rule: 'CLAIM-1', says: 'one' },\n{ id: 'x', rule: 'CLAIM-2', says: 'no', elsewhere: why },";
    const source = "covers(['claim.once'], 'one of twenty wins', async () => {});";
    const given = [text('acceptance/coverage/a.ts', coverage), text('acceptance/tests/a.test.ts', source)];
    expect(findTests(given)).toEqual([
      { id: 'CLAIM-1', path: 'acceptance/tests/a.test.ts', title: 'one of twenty wins' },
    ]);
    expect([...findExcused(given)]).toEqual(['CLAIM-2']);
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
});

test('tables hold short facts, and no cell is padded', () => {
  expect(findProseInTables(texts)).toEqual([]);
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
