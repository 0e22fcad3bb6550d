import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { applyMutant, MutantLostError } from './applyMutant.ts';
import type { Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const mutant: Mutant = { file: 'a.ts', find: 'a < b', replace: 'a > b', tests: [] };

test('a change is made in its place', () => {
  expect(applyMutant('if (a < b) return;', mutant)).toBe('if (a > b) return;');
});

test.each(['if (b < a) return;', 'a < b; a < b'])('a place that is gone, or not the only one: %s', (source) => {
  expect(() => applyMutant(source, mutant)).toThrow(MutantLostError);
});

test('every mutant has its place in the code and tests that are there', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(90);
  for (const each of mutants) {
    expect(applyMutant(readFileSync(`${root}${each.file}`, 'utf8'), each)).not.toBe('');
    expect(each.tests.filter((file) => !existsSync(`${root}${file}`))).toEqual([]);
  }
});
