import { createFakeClock } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { createByteBudget } from './createByteBudget.ts';

function build(maxBytes: number) {
  const clock = createFakeClock();
  const ended: string[] = [];
  const budget = createByteBudget({ maxBytes, now: clock.now });
  const hold = (name: string, bytes: number) => {
    const held = budget.open(() => {
      ended.push(name);
      held.release();
    });
    held.grow(bytes);
    return held;
  };
  return { budget, clock, ended, hold };
}

// Shows LIMIT-14.
test('what is too much is taken from who has held the most for the longest', () => {
  const { budget, clock, ended, hold } = build(1000);
  hold('large and old', 400);
  clock.advance(10_000);
  hold('small and old', 10);
  clock.advance(5000);
  hold('large and young', 500);
  expect([budget.used(), ended]).toEqual([910, []]);
  hold('honest', 100);
  expect([budget.used(), budget.ended(), ended]).toEqual([610, 1, ['large and old']]);
});

test('bytes that were given back are free, and are given back once', () => {
  const { budget, ended, hold } = build(1000);
  const first = hold('first', 900);
  first.release();
  first.release();
  first.grow(5000);
  hold('second', 1000);
  expect([budget.used(), ended]).toEqual([1000, []]);
});

test('a holder that alone is too much is ended itself', () => {
  const { budget, ended, hold } = build(1000);
  hold('only', 1001);
  expect([budget.used(), ended]).toEqual([0, ['only']]);
});
