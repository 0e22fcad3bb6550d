import { expect, test } from 'vitest';
import { askInTurn } from './askInTurn.ts';

type Answer = string | undefined | 'silent';

/** Asks nodes that say what is given. @returns what came of it, who was asked, and who was silent */
async function askAll(says: readonly Answer[], timeoutMs = 1) {
  const asked: number[] = [];
  const silent: number[] = [];
  const found = await askInTurn([...says.keys()], {
    async ask(node) {
      asked.push(node);
      return says[node] === 'silent' ? await new Promise<string>(() => undefined) : says[node];
    },
    timeoutMs,
    onSilent: (node) => silent.push(node),
  });
  return { found, asked, silent };
}

test('the first whose answer counts ends the asking', async () => {
  expect(await askAll(['a', 'b'])).toMatchObject({ found: 'a', asked: [0] });
  expect(await askAll([undefined, 'b', 'c'], 1e6)).toMatchObject({ found: 'b', asked: [0, 1], silent: [] });
  expect(await askAll([undefined, undefined])).toMatchObject({ found: undefined, asked: [0, 1] });
  expect(await askAll([])).toMatchObject({ found: undefined });
});

test('one that is silent has the next one asked beside it', async () => {
  expect(await askAll(['silent', 'silent', 'c'])).toEqual({ found: 'c', asked: [0, 1, 2], silent: [0, 1] });
  expect(await askAll(['silent', undefined, 'c'])).toMatchObject({ found: 'c', silent: [0] });
});

test('an answer that comes late still counts, if no other one does', async () => {
  const late = Promise.withResolvers<string>();
  const found = askInTurn([0, 1], {
    async ask(node) {
      if (node === 0) return await late.promise;
      late.resolve('late');
      return undefined;
    },
    timeoutMs: 1,
    onSilent: () => undefined,
  });
  expect(await found).toBe('late');
});

test('what the question throws ends it', async () => {
  const failing = askInTurn([0, 1], {
    ask: async () => {
      throw new TypeError('no such call');
    },
    timeoutMs: 1,
    onSilent: () => undefined,
  });
  await expect(failing).rejects.toThrow('no such call');
});
