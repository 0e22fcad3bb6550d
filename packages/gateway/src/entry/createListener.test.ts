import { expect, test } from 'vitest';
import { createEndOfTurn } from './createListener.ts';

test('what comes in one turn goes on together, in order, after the turn', async () => {
  const atEndOfTurn = createEndOfTurn<string>();
  const seen: string[] = [];
  const note = (text: string) => void seen.push(text);
  for (const name of ['one', 'two']) {
    seen.push(`${name} made`);
    void atEndOfTurn(name).then(note);
  }
  await Promise.resolve();
  expect(seen).toEqual(['one made', 'two made']);
  await new Promise(setImmediate);
  expect(seen).toEqual(['one made', 'two made', 'one', 'two']);
});

test('a promise is waited for first, and its failure comes at once', async () => {
  const atEndOfTurn = createEndOfTurn<string>();
  expect(await atEndOfTurn(Promise.resolve('later'))).toBe('later');
  await expect(atEndOfTurn(Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await atEndOfTurn('after')).toBe('after');
});
