import { expect, test } from 'vitest';
import { isStatusMove, REQUEST_STATUSES } from './status.ts';

test('only a claim and a report move a request', () => {
  const moves = REQUEST_STATUSES.flatMap((from) => {
    return REQUEST_STATUSES.filter((to) => isStatusMove(from, to)).map((to) => `${from} -> ${to}`);
  });
  expect(moves).toEqual([
    'pending -> processing',
    // Of an expired claim, to another relayer.
    'processing -> processing',
    'processing -> success',
    'processing -> failed',
  ]);
});
