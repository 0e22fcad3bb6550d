import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { choosePart } from './choosePart.ts';
import { longerThanCi, longParts } from './longParts.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the first digits of the commit choose, and each part has its turn', () => {
  const commits = longParts.map((_, index) => `${index.toString(16).padStart(8, '0')}ffff`);
  expect(commits.map((commit) => choosePart(longParts, commit))).toEqual(longParts);
});

test('every file of a part is there', () => {
  const files = [...longParts.flatMap((part) => part.files), ...longerThanCi];
  expect(files.filter((file) => !existsSync(`${root}${file}`))).toEqual([]);
});

test('every test with a full size is in a part, or known to take too long for one', () => {
  const listed = [...longParts.flatMap((part) => part.files), ...longerThanCi];
  const files = globSync('{packages,acceptance,demo,scripts}/**/*.test.ts', {
    cwd: root,
    exclude: (path) => path.endsWith('node_modules'),
  });
  const sized = files.filter((file) =>
    /from '@prism-gateway\/testing\/test-size'/.test(readFileSync(`${root}${file}`, 'utf8')),
  );
  expect(sized.length).toBeGreaterThan(10);
  expect(sized.filter((file) => !listed.some((name) => file.startsWith(name)))).toEqual([]);
});
