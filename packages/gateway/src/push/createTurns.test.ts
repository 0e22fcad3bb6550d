import { expect, test } from 'vitest';
import { createTurns } from './createTurns.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

// Shows LIMIT-19.
test('of many that wake up together eight go on in each turn of the event loop, in their order', async () => {
  const takeTurn = createTurns(() => true);
  const gone: number[] = [];
  const all = Array.from({ length: 30 }, async (_, index) => {
    await takeTurn();
    gone.push(index);
  });
  const counts: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    await Promise.resolve();
    counts.push(gone.length);
    await nextTurn();
  }
  await Promise.all(all);
  expect(counts).toEqual([8, 16, 24, 30, 30]);
  expect(gone).toEqual(Array.from({ length: 30 }, (_, index) => index));
});

test('while there is no room they come more slowly, and do come', async () => {
  let asked = 0;
  const takeTurn = createTurns(() => {
    asked += 1;
    return false;
  });
  await Promise.all(Array.from({ length: 30 }, takeTurn));
  expect(asked).toBe(2);
});
