import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COVERAGE, COVERAGE_IDS } from './coverage.ts';

const folder = import.meta.dirname;

/** The ids that tests name, read from their sources: so it does not matter which tests a run chooses. */
function readNamedIds(): Set<string> {
  const named = new Set<string>();
  for (const file of globSync('{tests,settings}/**/*.test.ts', { cwd: folder })) {
    const source = readFileSync(`${folder}/${file}`, 'utf8');
    for (const [, list = ''] of source.matchAll(/\bcovers\(\s*\[([^\]]*)\]/g)) {
      for (const [, id = ''] of list.matchAll(/'([^']+)'/g)) named.add(id);
    }
  }
  return named;
}

test('every case of the contract has a test', () => {
  const named = readNamedIds();
  const rules = Object.values(COVERAGE).flat();
  const missing = rules.filter(({ id, elsewhere }) => elsewhere === undefined && !named.has(id));
  expect(missing.map(({ id, says }) => `${id}: ${says}`)).toEqual([]);
});

test('tests name cases of the contract only', () => {
  expect([...readNamedIds()].filter((id) => !COVERAGE_IDS.has(id))).toEqual([]);
});

test('a case that is covered elsewhere is covered by no test here', () => {
  const named = readNamedIds();
  const elsewhere = Object.values(COVERAGE)
    .flat()
    .filter((rule) => rule.elsewhere !== undefined);
  expect(elsewhere.map(({ id }) => id).filter((id) => named.has(id))).toEqual([]);
});

test('every case has a name of its own', () => {
  const ids = Object.values(COVERAGE).flatMap((rules) => rules.map(({ id }) => id));
  expect(ids.filter((id, place) => ids.indexOf(id) !== place)).toEqual([]);
});
