import { expect, test } from 'vitest';
import { createParams } from './createParams.ts';

test.each([500, 1024, 16 * 1024, 200 * 1024])('params of %i bytes weigh that much', (bytes) => {
  const weight = JSON.stringify(createParams(bytes)).length;
  expect(bytes - weight).toBeLessThanOrEqual(1);
  expect(weight).toBeLessThanOrEqual(bytes);
});
