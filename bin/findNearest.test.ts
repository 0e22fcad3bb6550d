import { expect, test } from 'vitest';
import { findNearest } from './findNearest.mjs';
import { programs } from './programs.mjs';

test.each([
  ['relayr', 'relayer'],
  ['strat', 'start'],
  ['gasmonitor', 'gas-monitor'],
  ['check:type', 'check:types'],
  ['bemch', 'bench'],
])('"%s" most likely means %s', (word, name) => {
  expect(findNearest(word, Object.keys(programs))).toBe(name);
});

test('of names that are equally near, the first', () => {
  expect(findNearest('', ['ab', 'cd', 'efg'])).toBe('ab');
});
