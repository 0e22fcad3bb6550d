import { expect, test } from 'vitest';
import { INITIAL_STATUS, isStatusMove, REQUEST_MOVES, REQUEST_STATUSES } from './status.ts';

test('only a claim, a take-over, a renewal, a release, a report and a reopening move a request', () => {
  const moves = REQUEST_STATUSES.flatMap((from) => {
    return REQUEST_STATUSES.filter((to) => isStatusMove(from, to)).map((to) => `${from} -> ${to}`);
  });
  expect(moves).toEqual([
    'pending -> processing',
    // Given back by its owner.
    'processing -> pending',
    // Of a lapsed claim, to another relayer; of a valid one, to its owner.
    'processing -> processing',
    'processing -> success',
    'processing -> failed',
    // By an administrator.
    'failed -> pending',
  ]);
});

test('every state can be reached from the first one, and the last ones are final', () => {
  const reached = new Set<string>([INITIAL_STATUS]);
  for (const { from, to } of Object.values(REQUEST_MOVES)) {
    expect(reached).toContain(from);
    for (const status of to) reached.add(status);
  }
  expect([...reached].sort()).toEqual([...REQUEST_STATUSES].sort());
});
