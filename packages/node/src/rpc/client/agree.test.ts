import { expect, test } from 'vitest';
import { leastAgreed, mostAgreed } from './agree.ts';

// Shows NODE-4.
test.each<[string, readonly number[], number, number]>([
  ['one node is believed', [7], 7, 7],
  ['of two that differ nothing says which is right', [7, 1007], 7, 1007],
  ['two that agree are believed', [7, 7], 7, 7],
  ['one alone raises nothing beside two others', [7, 1007, 7], 7, 7],
  ['nor does it lower anything', [0, 7, 7], 7, 7],
  ['the most that two of them reach', [5, 9, 7, 3], 7, 7],
])('%s', (_, reported, least, most) => {
  expect([leastAgreed(reported), mostAgreed(reported)]).toEqual([least, most]);
  expect([leastAgreed(reported.map(BigInt)), mostAgreed(reported.map(BigInt))]).toEqual([BigInt(least), BigInt(most)]);
});
