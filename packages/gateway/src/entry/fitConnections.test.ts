import { expect, test } from 'vitest';
import { fitConnections, readFileLimit } from './fitConnections.ts';

// Shows LIMIT-15.
test.each([
  ['room enough', 12_000, 1_048_576, 12_000],
  ['no limit of files', 12_000, Infinity, 12_000],
  ['neither of them', 0, Infinity, 0],
  ['few files', 12_000, 1024, 896],
  ['very few files', 12_000, 100, 50],
  ['no bound, but files are bounded', 0, 4096, 3968],
])('%s: of %i connections and %f files, %i connections are kept', (_case, total, files, kept) => {
  expect(fitConnections({ total, perPeer: 7 }, files).limits).toEqual({ total: kept, perPeer: 7 });
});

test('the operator learns of it, and how to raise it', () => {
  expect(fitConnections({ total: 12_000, perPeer: 0 }, 1024).warning).toMatch(
    /1024 files: at most 896 connections .* MAX_CONNECTIONS=12000\. Raise the limit: ulimit -n/,
  );
  expect(fitConnections({ total: 500, perPeer: 0 }, 1024).warning).toBeUndefined();
});

test('this process has a limit', () => {
  expect(readFileLimit()).toBeGreaterThan(0);
});
