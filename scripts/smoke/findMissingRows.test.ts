import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { programs } from '../../bin/programs.mjs';
import { findMissingRows } from './findMissingRows.ts';
import { listCommands } from './listCommands.ts';
import { listTools } from './listTools.ts';
import { rows } from './rows.ts';

const named = [{ command: 'start', file: 'README.md' }];

test('every command that README and documents name has a row, and every program', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const named = [...listCommands(root), ...listTools(root)];
  expect(findMissingRows({ named, programs: Object.keys(programs) }, rows)).toEqual([]);
});

test('a command without a row', () => {
  expect(findMissingRows({ named, programs: [] }, [])).toEqual([
    'README.md names "start", and scripts/smoke/rows.ts does not say how it is tried.',
  ]);
});

test('a program without a row, and a row of nothing', () => {
  expect(findMissingRows({ named, programs: ['relayer'] }, [{ command: 'start' }, { command: 'old' }])).toEqual([
    'bin/programs.mjs has "relayer", and scripts/smoke/rows.ts does not say how it is tried.',
    'scripts/smoke/rows.ts runs "old", which nobody names.',
  ]);
});
