import { expect, test } from 'vitest';
import { createKeptParams } from './keptParams.ts';

const bytes = (length: number) => new Uint8Array(length);

test('what was kept longest makes room for what is new', () => {
  const kept = createKeptParams(100);
  kept.keep('a', bytes(40));
  kept.keep('b', bytes(40));
  kept.keep('a', bytes(50));
  kept.keep('c', bytes(30));
  expect([kept.get('a')?.length, kept.get('b'), kept.get('c')?.length]).toEqual([50, undefined, 30]);
  kept.keep('d', bytes(20));
  expect([kept.get('a')?.length, kept.get('d')?.length]).toEqual([50, 20]);
});

test('what is larger than all room is not kept', () => {
  const kept = createKeptParams(100);
  kept.keep('a', bytes(10));
  kept.keep('b', bytes(101));
  expect([kept.get('a'), kept.get('b')]).toEqual([undefined, undefined]);
  kept.keep('c', bytes(100));
  expect(kept.get('c')?.length).toBe(100);
});
