import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Program, programs } from './programs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const all: readonly Program[] = Object.values(programs);

test('every file and folder that a program names is there', () => {
  const steps = all.flatMap((program) => program.steps.map((step) => step.file));
  const files = [
    ...steps,
    ...all.flatMap(({ loadsLater = [], alsoInstalls = [] }) => [...loadsLater, ...alsoInstalls]),
  ];
  expect(files.filter((file) => !existsSync(`${root}${file}`))).toEqual([]);
});

test('npm knows every program by its name, and nothing beside them', () => {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const named = Object.keys(programs).map((name) => [name, `exec node bin/prism.mjs ${name}`]);
  // A name of npm's for a word of the program.
  const expected = { ...Object.fromEntries(named), 'payments:status': 'exec node bin/prism.mjs payments status' };
  expect(scripts).toEqual(expected);
});
