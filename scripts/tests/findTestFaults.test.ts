import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listTexts } from '../documents/listTexts.ts';
import { findTestFaults } from './findTestFaults.ts';

describe('a fault', () => {
  test.each([
    ['await vi.waitFor(() => expect(a).toBe(1));'],
    ['  expect(list.every((one) => one > 0)).toBe(true);'],
    ['expect(performance.now() - startedAt).toBeLessThan(5000);'],
    ["test('ends', { timeout: 20_000 }, async () => {"],
    ['}, 60_000);'],
  ])('is %j', (text) => {
    expect(findTestFaults(`// before\n${text}\n`)).toMatchObject([{ line: 2 }]);
  });

  test.each([
    ['await expect.poll(() => a).toBe(1);'],
    ['const isDone = () => list.every((one) => one.isDone);'],
    ['expect(performance.now() - startedAt).toBeLessThan(25_000);'],
    ['expect(performance.now() - startedAt).toBeGreaterThan(500);'],
  ])('is not %j', (text) => {
    expect(findTestFaults(text)).toEqual([]);
  });
});

test('no test has any', () => {
  const tests = listTexts(join(import.meta.dirname, '../..')).filter(
    ({ path }) => path.endsWith('.test.ts') && !path.startsWith('scripts/tests/'),
  );
  expect(tests.length).toBeGreaterThan(100);
  const faults = tests.flatMap(({ path, content }) =>
    findTestFaults(content).map(({ line, instead }) => `${path}:${line}: ${instead}`),
  );
  expect(faults).toEqual([]);
});
