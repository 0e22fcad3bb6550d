import { expect, test } from 'vitest';
import { createGroupedRead } from './createGroupedRead.ts';

test('what is asked for while a statement is under way shares the next one, and a failed one is told to its own alone', async () => {
  const asked: (readonly string[])[] = [];
  const answers: PromiseWithResolvers<ReadonlyMap<string, number>>[] = [];
  const read = createGroupedRead((keys) => {
    asked.push(keys);
    const answer = Promise.withResolvers<ReadonlyMap<string, number>>();
    answers.push(answer);
    return answer.promise;
  });
  const first = read('a');
  await expect.poll(() => asked).toEqual([['a']]);
  const later = [read('a'), read('b'), read('a')];
  answers[0]?.reject(new Error('the database is away'));
  await expect(first).rejects.toThrow('away');
  await expect.poll(() => asked).toEqual([['a'], ['a', 'b']]);
  answers[1]?.resolve(new Map([['a', 1]]));
  expect(await Promise.all(later)).toEqual([1, undefined, 1]);
});
