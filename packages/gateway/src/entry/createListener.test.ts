import { expect, test } from 'vitest';
import { createEndOfTurn } from './createListener.ts';

test('what comes in one turn is done together, in order, after the turn', async () => {
  const atEndOfTurn = createEndOfTurn();
  const seen: string[] = [];
  for (const name of ['one', 'two']) {
    seen.push(`${name} made`);
    atEndOfTurn(() => seen.push(name));
  }
  await Promise.resolve();
  expect(seen).toEqual(['one made', 'two made']);
  await new Promise(setImmediate);
  expect(seen).toEqual(['one made', 'two made', 'one', 'two']);
});

test('what is handed over while others are done is done in a turn of its own', async () => {
  const atEndOfTurn = createEndOfTurn();
  const seen: string[] = [];
  atEndOfTurn(() => atEndOfTurn(() => seen.push('later')));
  await new Promise(setImmediate);
  expect(seen).toEqual([]);
  await new Promise(setImmediate);
  expect(seen).toEqual(['later']);
});
