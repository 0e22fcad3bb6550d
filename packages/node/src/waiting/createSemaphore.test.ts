import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSemaphore, createTurns } from './createSemaphore.ts';

/** Acts that end when they are asked to. */
function createActs() {
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const begun: string[] = [];
  return {
    begun,
    act: (name: string) => () => {
      begun.push(name);
      const end = Promise.withResolvers<string>();
      ends.set(name, end);
      return end.promise;
    },
    async end(name: string) {
      ends.get(name)?.resolve(name);
      await nextTick();
    },
    async fail(name: string) {
      ends.get(name)?.reject(new Error(name));
      await nextTick();
    },
  };
}

test('no more than the limit are under way, and those that wait come in the order of asking', async () => {
  const { begun, act, end, fail } = createActs();
  const semaphore = createSemaphore(2);
  const results = ['a', 'b', 'c', 'd'].map((name) => semaphore.run(act(name)));
  await nextTick();
  expect(begun).toEqual(['a', 'b']);
  const failed = expect(results[1]).rejects.toThrow('b');
  await fail('b');
  await failed;
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('a');
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  await end('d');
  await end('c');
  expect(await Promise.all([results[0], results[2], results[3]])).toEqual(['a', 'c', 'd']);
  const last = semaphore.run(act('e'));
  await nextTick();
  await end('e');
  expect(await last).toBe('e');
});

test('who gives up while waiting leaves the place to the next, and a fired signal asks for none', async () => {
  const { begun, act, end } = createActs();
  const inTurn = createTurns();
  const giving = new AbortController();
  const first = inTurn(act('first'));
  const second = inTurn(act('second'), giving.signal);
  const third = inTurn(act('third'));
  giving.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  await expect(inTurn(act('fourth'), giving.signal)).rejects.toThrow('enough');
  await end('first');
  await end('third');
  expect(await Promise.all([first, third])).toEqual(['first', 'third']);
  expect(begun).toEqual(['first', 'third']);
});

test('a signal that fires during an act leaves the act alone', async () => {
  const { act, end } = createActs();
  const stopping = new AbortController();
  const running = createTurns()(act('on'), stopping.signal);
  await nextTick();
  stopping.abort();
  await end('on');
  expect(await running).toBe('on');
});

test('a permit that is released twice counts once', async () => {
  const semaphore = createSemaphore(1);
  const permit = await semaphore.acquire();
  permit.release();
  permit.release();
  const next = await semaphore.acquire();
  let isThrough = false;
  const waiting = semaphore.acquire().then((taken) => {
    isThrough = true;
    return taken;
  });
  await nextTick();
  expect(isThrough).toBe(false);
  next.release();
  (await waiting).release();
});
