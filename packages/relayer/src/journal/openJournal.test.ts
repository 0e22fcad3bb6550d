import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Verdict } from '../checks/leaveReasons.ts';
import { createJournalView } from './createJournalView.ts';
import { type Journal, openJournal } from './openJournal.ts';

let dir: string;
let path: string;
let journal: Journal;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'prism-journal-'));
  path = join(dir, 'relayer.db');
  journal = openJournal({ path, nowMs: 0 });
});
afterEach(() => {
  journal.close();
  rmSync(dir, { recursive: true });
});

const request = (requestId: string) => ({
  requestId,
  record: {
    requestId,
    action: 'DELETE_PRISM_FOR',
    signer: '0xAA',
    params: { cloudId: '0x01' } as never,
    createdAt: 'then',
  } as const,
  signatures: [{ signer: '0xaa', nonce: 2n ** 200n, r: '0x01', s: '0x02' }] as const,
  gas: 2n ** 70n,
  claimedAtMs: 5,
});
const bounds = { maxFeePerGas: 2n ** 66n, expiresAtMs: 7 };
const call = { intentId: 'i', to: '0x01', data: '0x02', gasLimit: 2n ** 65n } as const;
const submission = { ...call, ...bounds, requestIds: ['a', 'b'] } as const;

/** Reads with a connection of its own: what another process, or one after a crash, would see. */
function readState(requestId: string): unknown {
  const other = new DatabaseSync(path, { readOnly: true });
  const row = other.prepare('SELECT state FROM requests WHERE request_id = ?').get(requestId);
  other.close();
  return row?.state;
}

test('a request is read back as it was written, over a restart', () => {
  journal.begin([request('a')], 'claimRequests');
  journal.close();
  journal = openJournal({ path, nowMs: 1 });
  expect(journal.open()).toEqual([
    { ...request('a'), state: 'claiming', intentId: undefined, attempts: 0, outcome: undefined },
  ]);
});

// Shows RELAY-7.
test('the intention to claim, and a call for the sender, are on the disk at once', () => {
  journal.begin([request('a'), request('b')], 'claimRequests');
  expect(readState('a')).toBe('claiming');
  journal.move(['a', 'b'].map((requestId) => ({ requestId, to: 'claimed', by: 'claimRequests', nowMs: 6 })));
  // Seen at once, on the disk with the next commit.
  expect(journal.get('a')?.state).toBe('claimed');
  expect(readState('a')).toBe('claiming');
  journal.submit([submission], { by: 'submitClaims', nowMs: 7 });
  expect(readState('a')).toBe('submitted');
  expect(journal.submission('i')).toEqual(submission);
  expect(journal.get('b')).toMatchObject({ state: 'submitted', intentId: 'i', attempts: 1 });
});

test('moves reach the disk without a further write', async () => {
  journal.begin([request('a')], 'claimRequests');
  journal.move([{ requestId: 'a', to: 'lost', by: 'claimRequests', nowMs: 6 }]);
  await expect.poll(() => readState('a')).toBe('lost');
});

test('the whole life: outcome kept until it is reported, then forgotten after a week', () => {
  journal.begin([request('a')], 'claimRequests');
  journal.move([{ requestId: 'a', to: 'claimed', by: 'claimRequests', nowMs: 6 }]);
  const outcome = { status: 'failed', errorMessage: 'PrismNotFound(0x01)' } as const;
  journal.move([{ requestId: 'a', to: 'finalized', by: 'reviewClaim', outcome, nowMs: 7 }]);
  expect(journal.get('a')).toMatchObject({ state: 'finalized', outcome });
  journal.move([{ requestId: 'a', to: 'reported', by: 'reportOutcomes', nowMs: 8 }]);
  expect(journal.get('a')).toBeUndefined();
  expect(journal.open()).toEqual([]);
  journal.close();
  openJournal({ path, nowMs: 8 + 7 * 86_400_000 }).close();
  expect(readState('a')).toBe('reported');
  journal = openJournal({ path, nowMs: 9 + 7 * 86_400_000 });
  expect(readState('a')).toBeUndefined();
});

test('without a restart, too: some at a time, with calls and moves; not what is open, nor what was sent and lost', async () => {
  const ids = Array.from({ length: 1500 }, (_, i) => `r${i}`);
  const kept = ['open', 'sent'];
  journal.begin([...ids, ...kept].map(request), 'claimRequests');
  const by = 'claimRequests';
  journal.move([...ids, ...kept].map((requestId) => ({ requestId, to: 'claimed', by, nowMs: 6 })));
  const ended = { ...submission, requestIds: ['r0', 'r1'] };
  journal.submit([ended, { ...submission, intentId: 'j', requestIds: kept }], { by: 'submitClaims', nowMs: 7 });
  const outcome = { status: 'failed', errorMessage: 'no' } as const;
  const mine = (requestId: string, hand: 'finalizeSubmission' | 'reviewClaim') =>
    journal.move([{ requestId, to: 'finalized', by: hand, outcome, nowMs: 8 }]);
  for (const requestId of ids) {
    mine(requestId, ended.requestIds.includes(requestId) ? 'finalizeSubmission' : 'reviewClaim');
    journal.move([{ requestId, to: 'reported', by: 'reportOutcomes', nowMs: 8 }]);
  }
  mine('sent', 'finalizeSubmission');
  journal.move([{ requestId: 'sent', to: 'lost', by: 'reportOutcomes', nowMs: 8 }]);
  const count = (table: string) => {
    const other = new DatabaseSync(path, { readOnly: true });
    const rows = other.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows;
    other.close();
    return rows;
  };
  const weekLater = 9 + 7 * 86_400_000;
  journal.forgetOld(weekLater);
  await expect.poll(() => count('requests')).toBe(502);
  journal.forgetOld(weekLater + 60_000);
  await expect.poll(() => [count('requests'), count('submissions'), count('moves')]).toEqual([2, 1, 8]);
  expect(journal.submission('i')).toBeUndefined();
  expect(journal.get('open')).toMatchObject({ state: 'submitted', intentId: 'j' });
  journal.forgetOld(weekLater + 90 * 86_400_000);
  await expect.poll(() => count('requests')).toBe(1);
});

test('a wrong move changes nothing, and spares what was written before', () => {
  journal.begin([request('a'), request('b')], 'claimRequests');
  journal.move([{ requestId: 'a', to: 'claimed', by: 'claimRequests', nowMs: 6 }]);
  const moves = ['a', 'b'].map((requestId) => ({ requestId, to: 'reported', by: 'reportOutcomes', nowMs: 7 }) as const);
  expect(() => journal.move([{ requestId: 'b', to: 'claimed', by: 'claimRequests', nowMs: 7 }, ...moves])).toThrow(
    'cannot go from claimed to reported',
  );
  expect(journal.get('a')?.state).toBe('claimed');
  expect(journal.get('b')?.state).toBe('claiming');
});

test('a request that was lost may be claimed again; an open one may not be begun twice', () => {
  journal.begin([request('a')], 'claimRequests');
  expect(() => journal.begin([request('a')], 'claimRequests')).toThrow();
  journal.move([{ requestId: 'a', to: 'lost', by: 'claimRequests', nowMs: 6 }]);
  journal.begin([request('a')], 'claimRequests');
  expect(journal.get('a')).toMatchObject({ state: 'claiming', attempts: 0 });
});

test('a request that was submitted, lost and claimed again counts on: each of its sendings has an intent of its own', () => {
  const claimAndSubmit = (intentId: string) => {
    journal.begin([request('a')], 'claimRequests');
    journal.move([{ requestId: 'a', to: 'claimed', by: 'claimRequests', nowMs: 6 }]);
    journal.submit([{ ...submission, intentId, requestIds: ['a'] }], { by: 'submitClaims', nowMs: 7 });
  };
  claimAndSubmit('a#1');
  const outcome = { status: 'failed', errorMessage: 'PrismNotFound(0x01)' } as const;
  journal.move([{ requestId: 'a', to: 'finalized', by: 'finalizeSubmission', outcome, nowMs: 8 }]);
  journal.move([{ requestId: 'a', to: 'lost', by: 'reportOutcomes', nowMs: 9 }]);
  journal.begin([request('a')], 'claimRequests');
  expect(journal.get('a')).toMatchObject({ state: 'claiming', attempts: 1, outcome: undefined, intentId: undefined });
  journal.move([{ requestId: 'a', to: 'lost', by: 'claimRequests', nowMs: 10 }]);
  claimAndSubmit('a#2');
  expect(journal.get('a')).toMatchObject({ state: 'submitted', attempts: 2, intentId: 'a#2' });
});

test('a move by somebody else’s hand is refused', () => {
  journal.begin([request('a')], 'claimRequests');
  expect(() => journal.move([{ requestId: 'a', to: 'claimed', by: 'reportOutcomes', nowMs: 6 }])).toThrow(
    'request a cannot go from claiming to claimed by reportOutcomes',
  );
});

test('it tells all it knows of a request: verdict, moves, submissions and outcome, also to another process', () => {
  const { record } = request('a');
  const gap = { signer: '0xaa', nonce: 3n } as const;
  const left = { kind: 'leave', reason: 'nonceAhead', errorMessage: 'ahead', gap } as const;
  journal.recordVerdicts([{ record, verdict: left, sinceMs: 2, recheckAtMs: 9, nowMs: 3 }]);
  expect(journal.view.waiting(5)).toEqual([
    {
      ...{ requestId: 'a', signer: '0xaa', action: 'DELETE_PRISM_FOR', verdict: 'nonceAhead', message: 'ahead' },
      ...{ waitsFor: 'forwarder nonce 3 of 0xaa', sinceMs: 2, evaluatedAtMs: 3, recheckAtMs: 9 },
    },
  ]);
  const stake = { wei: 1n, gift: 0n };
  const ready = { kind: 'ready', signatures: [], gas: 1n, feeWei: 2n, stake } as const;
  journal.recordVerdicts([{ record, verdict: ready, sinceMs: 4, recheckAtMs: 4, nowMs: 4 }]);
  expect(journal.view.countVerdicts()).toEqual({ ready: 1 });
  journal.begin([request('a')], 'claimRequests');
  journal.move([{ requestId: 'a', to: 'claimed', by: 'claimRequests', nowMs: 6 }]);
  journal.addTotals({ spentWei: 2n ** 70n, earnedCredits: 1n, transactions: 1n });
  journal.addTotals({ spentWei: 1n, earnedCredits: 2n, transactions: 1n });
  journal.submit([{ ...submission, requestIds: ['a'] }], { by: 'submitClaims', nowMs: 7 });
  const other = new DatabaseSync(path, { readOnly: true });
  const view = createJournalView(other);
  expect(view.explain('a')).toMatchObject({
    verdict: { verdict: 'ready', evaluatedAtMs: 4 },
    request: { state: 'submitted', intentId: 'i', attempts: 1 },
    moves: [
      { state: 'claiming', by: 'claimRequests', atMs: 5 },
      { state: 'claimed', by: 'claimRequests', atMs: 6 },
      { state: 'submitted', by: 'submitClaims', atMs: 7 },
    ],
    submissions: [{ intentId: 'i', requests: 1, atMs: 7 }],
  });
  expect(view.held(5)).toMatchObject([{ requestId: 'a', state: 'submitted', action: 'DELETE_PRISM_FOR' }]);
  expect(view.totals()).toEqual({ spentWei: 2n ** 70n + 1n, earnedCredits: 3n, transactions: 2n });
  expect(view.explain('b')).toBeUndefined();
  other.close();
});

test('what was left since a request was last taken is reported over a restart, unless its settings are others now', () => {
  const evaluated = (requestId: string, verdict: Verdict, nowMs: number) => ({
    ...{ record: { requestId, signer: `0x${requestId}`, action: 'DELETE_PRISM_FOR' } as const, verdict },
    ...{ sinceMs: nowMs, recheckAtMs: Number.POSITIVE_INFINITY, nowMs },
  });
  const reopen = (digest: string) => {
    journal.close();
    journal = openJournal({ path, nowMs: 9, digestSettings: () => digest });
  };
  reopen('old');
  const ready: Verdict = { kind: 'ready', signatures: [], gas: 1n, feeWei: 1n, stake: { wei: 0n, gift: 0n } };
  journal.recordVerdicts([
    evaluated('a', { kind: 'leave', reason: 'fee' }, 1),
    evaluated('b', ready, 2),
    evaluated('c', { kind: 'leave', reason: 'fee' }, 3),
    evaluated('d', { kind: 'leave', reason: 'gasPrice' }, 4),
  ]);
  reopen('old');
  expect(journal.leftSince(0)).toEqual([
    { reason: 'gasPrice', signer: '0xd', atMs: 4 },
    { reason: 'fee', signer: '0xc', atMs: 3 },
  ]);
  expect(journal.leftSince(3)).toHaveLength(1);
  reopen('new');
  expect(journal.leftSince(0)).toEqual([]);
});

// Shows RELAY-8.
test('what was reported and is pending again, after an older copy of the gateway was put back, is recalled over a restart', () => {
  const { record } = request('a');
  const leave = (paysAtWei: bigint, recheckAtMs: number, nowMs: number) => {
    const verdict = { kind: 'leave', reason: 'fee', paysAtWei } as const;
    journal.recordVerdicts([{ record, verdict, sinceMs: nowMs, recheckAtMs, nowMs }]);
  };
  const recall = () => journal.recall({ nowMs: 20_000, gasPrice: 1n, limit: 9, isFull: false, isKnown: () => false });
  journal.begin([request('a')], 'claimRequests');
  journal.move([{ requestId: 'a', to: 'claimed', by: 'claimRequests', nowMs: 6 }]);
  leave(9n, Number.POSITIVE_INFINITY, 7);
  const outcome = { status: 'failed', errorMessage: 'it cannot be' } as const;
  journal.move([{ requestId: 'a', to: 'finalized', by: 'reviewClaim', outcome, nowMs: 8 }]);
  journal.move([{ requestId: 'a', to: 'reported', by: 'reportOutcomes', nowMs: 9 }]);
  expect([recall(), journal.isLeft('a')]).toEqual([[], false]);
  // Nor does anybody read that it still waits, and the chain is not followed for it.
  expect([journal.view.countLeft(0), journal.view.waiting(9)]).toEqual([{}, []]);
  leave(0n, 12, 11);
  journal.close();
  journal = openJournal({ path, nowMs: 20_000 });
  expect([recall(), journal.isLeft('a')]).toEqual([['a'], true]);
  expect(journal.view.countLeft(0)).toEqual({ fee: 1 });
});

// Shows RELAY-17.
test('half of what is looked at again is of known payers, however much is due of strangers, and all of it if there is room for no more', () => {
  journal.addPaid(['0xaa'], 1n);
  const verdict = { kind: 'leave', reason: 'fee', paysAtWei: 9n } as const;
  const leave = (requestId: string, signer: string, recheckAtMs: number) => {
    const record = { requestId, signer, action: 'DELETE_PRISM_FOR' } as const;
    journal.recordVerdicts([{ record, verdict, sinceMs: 1, recheckAtMs, nowMs: 1 }]);
  };
  for (const n of [1, 2, 3, 4, 5]) {
    leave(`due ${n} of a stranger`, '0xBB', n);
    leave(`cheap ${n} of a stranger`, '0xBB', 99_999);
  }
  for (const n of [1, 2]) {
    leave(`due ${n} of a customer`, '0xAA', 10 + n);
    leave(`cheap ${n} of a customer`, '0xAA', 99_999);
  }
  const recall = (isFull: boolean) => {
    const ids = journal.recall({ nowMs: 20_000, gasPrice: 1n, limit: 4, isFull, isKnown: () => false });
    return ids.map((id) => id.replace(/ \d of a/, ''));
  };
  const [due, cheap] = [
    ['due customer', 'due customer', 'due stranger', 'due stranger'],
    ['cheap customer', 'cheap customer'],
  ];
  expect(recall(false).slice(0, 6)).toEqual([...due, ...cheap]);
  expect(recall(false)).toHaveLength(8);
  expect(recall(true)).toEqual([...due.slice(0, 2), ...cheap]);
});

// Shows RELAY-17.
test('of more verdicts than are kept, those that are final go first, and then those of strangers', () => {
  const verdict = { kind: 'leave', reason: 'fee', paysAtWei: 1n } as const;
  const leave = (requestId: string, signer: string) => {
    const record = { requestId, signer, action: 'DELETE_PRISM_FOR' } as const;
    journal.recordVerdicts([{ record, verdict, sinceMs: 1, recheckAtMs: 1, nowMs: 1 }]);
  };
  journal.addPaid(['0xaa'], 1n);
  leave('of a customer', '0xAA');
  leave('of a stranger', '0xBB');
  journal.close();
  const database = new DatabaseSync(path);
  // One that is final, and all others like the stranger's.
  database.exec(
    `INSERT INTO evaluated
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 249998)
     SELECT 'r' || i, signer, action, verdict, message, gap, gap_state, since, 2, iif(i = 5, NULL, 2), pays_at, settings, NULL, 0
     FROM evaluated, n WHERE request_id = 'of a stranger'`,
  );
  database.close();
  journal = openJournal({ path, nowMs: 3 });
  leave('one more', '0xBB');
  const isLeft = (id: string) => journal.isLeft(id);
  expect(['of a customer', 'of a stranger', 'r5', 'r1', 'r249998'].map(isLeft)).toEqual([
    true,
    false,
    false,
    false,
    true,
  ]);
  expect(journal.view.countLeft(0)).toEqual({ fee: 225_001 });
});
