import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { assertMove, type LifeState, MOVES, type Mover } from './states.ts';

// The keys of the table are its states.
const states = Object.keys(MOVES) as LifeState[];
// Each is a function of this folder.
const sources = globSync('*.ts', { cwd: import.meta.dirname }).map((file) =>
  readFileSync(new URL(file, import.meta.url), 'utf8'),
);
const movers = sources.flatMap((source) =>
  [...source.matchAll(/^(?:export )?(?:async )?function (\w+)/gm)].map(([, name]) => name as Mover),
);

function isAllowed(move: Parameters<typeof assertMove>[0]): boolean {
  try {
    assertMove(move);
    return true;
  } catch {
    return false;
  }
}

test('only the moves of the picture are allowed, each by its own functions', () => {
  const allowed = states.flatMap((from) =>
    states.flatMap((to) => {
      const by = movers.filter((mover) => isAllowed({ requestId: 'r', from, to, by: mover })).toSorted();
      return by.length === 0 ? [] : [`${from} ${to}: ${by.join(' ')}`];
    }),
  );
  expect(new Set(allowed)).toEqual(
    new Set([
      'seen checked: evaluateRequests',
      'seen left: evaluateRequests',
      'seen claimed: adoptClaims',
      'left seen: evaluateRequests',
      'checked seen: evaluateRequests',
      'checked claiming: claimRequests takeOverStale',
      'claiming claimed: claimRequests confirmClaim',
      'claiming lost: claimRequests confirmClaim takeOverStale',
      'claimed submitted: submitClaims',
      'claimed finalized: reviewClaim',
      'claimed lost: confirmClaim reviewClaim',
      'submitted claimed: finalizeSubmission',
      'submitted finalized: finalizeSubmission',
      'finalized reported: reportOutcomes',
      'finalized lost: reportOutcomes',
      'finalized claimed: reportOutcomes',
    ]),
  );
});

test('a move that is not there names request, states and who tried it', () => {
  expect(() => assertMove({ requestId: 'r-1', from: 'claiming', to: 'submitted', by: 'submitClaims' })).toThrow(
    'request r-1 cannot go from claiming to submitted by submitClaims',
  );
  expect(() => assertMove({ requestId: 'r-1', from: 'finalized', to: 'reported', by: 'submitClaims' })).toThrow(
    'by submitClaims',
  );
});
