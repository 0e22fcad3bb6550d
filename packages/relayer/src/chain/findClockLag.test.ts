import { expect, test } from 'vitest';
import { findStaleHead } from './findClockLag.ts';

// Shows RELAY-25.
test('the newest block of an only node is stale from MAX_HEAD_AGE_SECONDS on, and never with 0', () => {
  expect(findStaleHead(1000n, 1_060_999, 60)).toBeUndefined();
  expect(findStaleHead(1000n, 1_061_000, 60)).toMatch(/^the newest block of the only node is 61 seconds old/);
  expect(findStaleHead(1000n, 9_999_000, 0)).toBeUndefined();
});
