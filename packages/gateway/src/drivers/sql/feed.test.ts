import { expect, test } from 'vitest';
import { InvalidCursorError } from '../../ports/errors.ts';
import type { FeedQuery } from '../../ports/requestStore.ts';
import { assertGiven, fillFeed, readFeedPosition } from './feed.ts';

const query: FeedQuery = { chainName: 'c', from: 'oldest', limit: 100, maxParamsBytes: 1000, now: 0 };

// Shows FEED-3.
test('a copy that knows what a position has given, and not what was claimed since, refuses it', () => {
  // The 5th move was the last that made something pending; the next ones have claimed it and reported.
  const start = { pending: 5, lapsed: 5, sequence: 5 };
  const { next } = fillFeed(query, start, { claims: [], fresh: [], sequence: 7 });
  const position = readFeedPosition({ ...query, after: next });
  const check = (sequence: number, [left, entered]: readonly [number, number] = [0, 0]) =>
    assertGiven(position as NonNullable<typeof position>, { sequence, left, entered });
  expect(() => check(7)).not.toThrow();
  expect(() => check(9)).not.toThrow();
  expect(() => check(9, [7, 8])).not.toThrow();
  // Before and after the copy's first move.
  expect(() => check(5)).toThrow(InvalidCursorError);
  expect(() => check(1001, [5, 1000])).toThrow(InvalidCursorError);
});
