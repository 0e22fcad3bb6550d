import { expect, test } from 'vitest';
import { createAdaptiveWait } from './askNodes.ts';

test('a node that was silent once is waited for a moment only, until it answers again', async () => {
  const wait = createAdaptiveWait();
  const first = Promise.withResolvers<string | undefined>();
  const asked = wait(first.promise);
  first.resolve(undefined);
  expect(await asked).toBeUndefined();
  const late = Promise.withResolvers<string>();
  // It ends, though nothing is said.
  expect(await wait(late.promise)).toBeUndefined();
  late.resolve('late');
  expect(await wait(Promise.resolve('well'))).toBe('well');
  expect(await createAdaptiveWait(true)(new Promise(() => undefined))).toBeUndefined();
});
