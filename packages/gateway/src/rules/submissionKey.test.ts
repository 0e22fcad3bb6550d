import { expect, test } from 'vitest';
import { submissionKeyOf } from './submissionKey.ts';

const of = (params: { readonly timestamp: string; readonly r: string }) =>
  submissionKeyOf({ chainName: 'eip155:1', action: 'DELETE_PRISM_FOR', params });

// Shows ONCE-1.
test('keys stand in the order of their time stamps, however large those are', () => {
  const keys = ['1767225600', '1767225601', '1767225700'].map((timestamp) => of({ timestamp, r: '0xAB' }));
  expect(keys.toSorted()).toEqual(keys);
  expect(of({ r: '0xab', timestamp: '1767225600' })).toBe(keys[0]);
  expect(of({ timestamp: '1767225600', r: '0xac' })).not.toBe(keys[0]);
  expect(of({ timestamp: String(2n ** 256n - 1n), r: '0xab' })).toMatch(/^[0-9a-f]{40}$/);
});
