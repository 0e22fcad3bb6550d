import { expect, test } from 'vitest';

// For the tests of what runs tests.
test('is red', () => {
  expect(1).toBe(2);
});
