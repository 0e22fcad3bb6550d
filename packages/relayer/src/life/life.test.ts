import { expect, test } from 'vitest';
import { assertMove, type LifeState } from './life.ts';

const states: readonly LifeState[] = [
  'seen',
  'left',
  'checked',
  'claiming',
  'claimed',
  'submitted',
  'mined',
  'reported',
  'lost',
];

test('only the moves of the picture are allowed', () => {
  const allowed = states.flatMap((from) =>
    states
      .filter((to) => {
        try {
          assertMove({ requestId: 'r', from, to });
          return true;
        } catch {
          return false;
        }
      })
      .map((to) => `${from} ${to}`),
  );
  expect(allowed).toEqual([
    'seen left',
    'seen checked',
    'left seen',
    'checked seen',
    'checked left',
    'checked claiming',
    'claiming claimed',
    'claiming lost',
    'claimed submitted',
    'claimed mined',
    'claimed lost',
    'submitted claimed',
    'submitted mined',
    'mined reported',
    'mined lost',
  ]);
});

test('a move that is not there names request and states', () => {
  expect(() => assertMove({ requestId: 'r-1', from: 'claiming', to: 'submitted' })).toThrow(
    'request r-1 cannot go from claiming to submitted',
  );
});
