import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, it } from 'vitest';
import { makeCandidates } from '../../test/makeContext.ts';
import type { Verdict } from '../checks/leaveReasons.ts';
import { openJournal } from '../journal/openJournal.ts';
import { isDue } from './candidates.ts';

// What a candidate's memory reads of a record.
const record = { requestId: 'one', signer: '0xAA', action: 'DELETE_PRISM_FOR' } as RequestRecord;

const reverts = (errorMessage = 'InvalidSignature()') => ({ kind: 'leave', reason: 'reverts', errorMessage }) as const;

/** Looks every 100 ms, and evaluates each time it is due. @param blockMs - a block's time, if it is known @returns when it was evaluated */
function evaluateFor(endMs: number, verdictAt: (nowMs: number) => Verdict, blockMs?: number): number[] {
  let nowMs = 0;
  const candidates = makeCandidates(undefined, () => blockMs && blockMs - (nowMs % blockMs));
  const looks: number[] = [];
  for (; nowMs <= endMs; nowMs += 100) {
    for (const candidate of candidates.see([record], nowMs)) {
      if (!isDue(candidate, nowMs)) continue;
      looks.push(nowMs);
      candidates.recordVerdict(candidate, verdictAt(nowMs), nowMs);
    }
  }
  return looks;
}

it('looks less and less often at what stays blocked, whatever its code says with it, and when patience ends', () => {
  const looks = evaluateFor(120_000, (nowMs) => reverts(`the time is ${nowMs}`));
  expect(looks.slice(0, 7)).toEqual([0, 1000, 2000, 3000, 4500, 6800, 10_200]);
  expect(looks.slice(-4)).toEqual([51_800, 77_700, 107_700, 120_000]);
});

// Shows RELAY-28.
it('looks at what only the chain can change no sooner than its next block is there', () => {
  expect(evaluateFor(50_000, () => reverts(), 12_000)).toEqual([0, 12_500, 24_500, 36_800]);
  const unclaimed = { kind: 'leave', reason: 'unclaimed' } as const;
  expect(evaluateFor(12_000, () => unclaimed, 12_000)).toEqual([0, 5000, 10_000]);
});

// Shows RELAY-3.
it('looks when it was to look, however often somebody claims it and gives it back meanwhile', () => {
  const poor = { kind: 'leave', reason: 'fee', paysAtWei: 1n } as const;
  const wait = { reason: 'fee', gap: null, gapState: null, sinceMs: 0, recheckAtMs: 600_000 } as const;
  const known = { ...openJournal({ path: ':memory:', nowMs: 0 }), wait: () => wait };
  // In memory, and after a restart.
  const plans = [makeCandidates(), makeCandidates(known)].map((candidates) => {
    return [0, 300_000, 500_000, 700_000, 1_000_000].map((nowMs) => {
      const [candidate] = candidates.see([record], nowMs);
      candidates.recordVerdict(candidate!, poor, nowMs);
      return candidate!.recheckAtMs / 1000;
    });
  });
  expect(plans).toEqual([
    [600, 600, 600, 1300, 1300],
    [600, 600, 600, 1300, 1300],
  ]);
});

// Shows RELAY-4.
it('looks at what comes too early when its time has come, and before that now and then, or when its signer goes on', () => {
  const early = (notBeforeMs: number) => () => ({ kind: 'leave', reason: 'early', notBeforeMs }) as const;
  expect(evaluateFor(60_000, early(60_000))).toEqual([0, 60_000]);
  expect(evaluateFor(4_500_000, early(4_000_000)).slice(0, 6)).toEqual([
    0, 600_000, 1_200_000, 1_800_000, 2_700_000, 4_000_000,
  ]);
  expect(evaluateFor(7_200_000, early(Number.MAX_VALUE)).at(-1)).toBe(6_075_000);
  const journal = openJournal({ path: ':memory:', nowMs: 0 });
  const candidates = makeCandidates(journal);
  const [candidate] = candidates.see([record], 0);
  journal.recordVerdicts([candidates.recordVerdict(candidate!, early(4_000_000)(), 0)!]);
  expect(journal.recall({ nowMs: 1, gasPrice: undefined, limit: 1, isFull: false, isKnown: () => false })).toEqual([]);
  candidates.touch('0xaa');
  expect(journal.recall({ nowMs: 1, gasPrice: undefined, limit: 1, isFull: false, isKnown: () => false })).toEqual([
    'one',
  ]);
});

it('looks soon again where another forwarder nonce is in the way', () => {
  const gapAt = (nowMs: number) => ({ signer: '0xaa', nonce: BigInt(nowMs) }) as const;
  const ahead = (nowMs: number) => ({ kind: 'leave', reason: 'nonceAhead', gap: gapAt(nowMs) }) as const;
  expect(evaluateFor(4000, ahead)).toEqual([0, 1000, 2000, 3000, 4000]);
});

it('looks at once at what was evaluated while a transaction of its signer was mined', () => {
  const candidates = makeCandidates();
  const [candidate] = candidates.see([record], 0);
  candidates.touch('0xaa');
  candidates.recordVerdict(candidate!, reverts(), 0);
  expect(isDue(candidate!, 0)).toBe(true);
  candidates.recordVerdict(candidate!, reverts(), 0);
  expect(isDue(candidate!, 0)).toBe(false);
});

it('looks at a copy at once when the one that it has waited for is gone: somebody else has claimed it', () => {
  const candidates = makeCandidates();
  const params = { timestamp: '1', signer: '0xAA', r: '0x1' };
  const copies = ['first', 'second', 'third'].map((requestId) => ({ ...record, params, requestId }) as RequestRecord);
  const [first, second, third] = candidates.see(copies, 0);
  candidates.recordVerdict(first!, reverts(), 0);
  const duplicate = { kind: 'leave', reason: 'duplicate' } as const;
  for (const copy of [second!, third!]) candidates.recordVerdict(copy, duplicate, 0);
  candidates.forget('first');
  // The next one waits for it.
  expect([second, third].map((copy) => isDue(copy!, 1))).toEqual([true, false]);
  candidates.forget('second');
  expect(isDue(third!, 1)).toBe(true);
  expect(candidates.countReasons().get('duplicate')).toBe(0);
});

// Shows RELAY-3, RELAY-28.
it('goes on with its patience if its nonce is searched for once more, in memory and once it was forgotten', () => {
  const journal = openJournal({ path: ':memory:', nowMs: 0 });
  const gap = { signer: '0xaa', nonce: 1n } as const;
  const ahead = { kind: 'leave', reason: 'nonceAhead', gap } as const;
  const search = { kind: 'leave', reason: 'nonceUnknown' } as const;
  const sinceOf = [
    [0, ahead],
    [120_000, search],
    [240_000, search],
    [240_500, ahead],
  ].map(([nowMs, verdict]) => {
    const candidates = makeCandidates(journal);
    const [candidate] = candidates.see([record], nowMs as number);
    const written = candidates.recordVerdict(candidate!, verdict as Verdict, nowMs as number);
    if (written !== undefined) journal.recordVerdicts([written]);
    return [candidate?.wait?.reason, candidate?.wait?.sinceMs];
  });
  expect(sinceOf).toEqual(Array(4).fill(['nonceAhead', 0]));
});

// Shows RELAY-3, RELAY-28.
it('goes on with its patience if its signer has another request carried out', () => {
  const candidates = makeCandidates();
  const [candidate] = candidates.see([record], 0);
  candidates.recordVerdict(candidate!, reverts(), 0);
  candidates.touch('0xaa');
  candidates.recordVerdict(candidate!, reverts(), 60_000);
  expect(candidate?.wait?.sinceMs).toBe(0);
});
