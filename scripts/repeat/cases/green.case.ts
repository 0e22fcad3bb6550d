import { expect, test } from 'vitest';

test('is green', () => {
  expect(1).toBe(1);
});
