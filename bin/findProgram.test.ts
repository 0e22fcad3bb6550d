import { expect, test } from 'vitest';
import { findProgram } from './findProgram.mjs';
import type { Program } from './programs.mjs';

const program = (summary: string): Program => ({ summary, group: 'try', steps: [{ file: `${summary}.ts` }] });
const programs = { demo: program('all'), 'demo:payments': program('payments') };

test('one word, and what is left for the program', () => {
  const rest = ['--keep', 'payments'];
  expect(findProgram(programs, ['demo', ...rest])).toEqual({ name: 'demo', program: programs.demo, rest });
});

test.each([
  [['demo:payments', '-x'], ['-x']],
  [['demo', 'payments', '-x'], ['-x']],
  [['demo', 'payments'], []],
])('%j is the program with a colon in its name', (words, rest) => {
  expect(findProgram(programs, words)).toEqual({ name: 'demo:payments', program: programs['demo:payments'], rest });
});

test.each(['demos', 'toString', ''])('"%s" is none', (word) => {
  expect(findProgram(programs, [word])).toBeUndefined();
});
