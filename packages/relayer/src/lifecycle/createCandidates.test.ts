import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, it } from 'vitest';
import { createCandidates, isDue } from './createCandidates.ts';

// What a candidate's memory reads of a record.
const record = { requestId: 'one', signer: '0xAA' } as RequestRecord;

function leave(nowMs: number, errorMessage = 'InvalidSignature()') {
  return { kind: 'leave', reason: 'reverts', recheckAtMs: nowMs + 1000, errorMessage } as const;
}

/** Looks every 100 ms, and judges each time it is due the same. @returns when it was judged */
function judgeFor(endMs: number, errorMessage = (_nowMs: number) => 'InvalidSignature()'): number[] {
  const candidates = createCandidates();
  const looks: number[] = [];
  for (let nowMs = 0; nowMs <= endMs; nowMs += 100) {
    for (const candidate of candidates.see([record], nowMs)) {
      if (!isDue(candidate, nowMs)) continue;
      looks.push(nowMs);
      candidates.judge(candidate, leave(nowMs, errorMessage(nowMs)), nowMs);
    }
  }
  return looks;
}

it('looks less and less often at what stays blocked', () => {
  expect(judgeFor(12_000)).toEqual([0, 1000, 2000, 3000, 4500, 6800, 10_200]);
  const later = judgeFor(60_000).filter((atMs) => atMs > 20_000);
  expect(later.slice(1).map((atMs, i) => atMs - later[i]!)).toEqual([10_000, 10_000, 10_000]);
});

it('looks soon again where it is something else that is in the way', () => {
  expect(judgeFor(4000, (nowMs) => `next one is ${nowMs}`)).toEqual([0, 1000, 2000, 3000, 4000]);
});

it('looks at a copy at once when the one that it has waited for is gone: somebody else has claimed it', () => {
  const candidates = createCandidates();
  const params = { timestamp: '1', signer: '0xAA', r: '0x1' };
  const copies = ['first', 'second', 'third'].map((requestId) => ({ ...record, params, requestId }) as RequestRecord);
  const [first, second, third] = candidates.see(copies, 0);
  candidates.judge(first!, leave(0), 0);
  const duplicate = { kind: 'leave', reason: 'duplicate', recheckAtMs: 30_000 } as const;
  for (const copy of [second!, third!]) candidates.judge(copy, duplicate, 0);
  candidates.forget('first');
  // The next one waits for it.
  expect([second, third].map((copy) => isDue(copy!, 1))).toEqual([true, false]);
  candidates.forget('second');
  expect(isDue(third!, 1)).toBe(true);
  expect(candidates.countReasons().get('duplicate')).toBe(0);
});

it('counts what was left as left, also when it is time to look again, until its signer’s turn comes', () => {
  const candidates = createCandidates();
  const [candidate] = candidates.see([record], 0);
  expect(candidates.isLeft('one')).toBe(false);
  candidates.judge(candidate!, leave(0), 0);
  expect(isDue(candidate!, 5000)).toBe(true);
  expect(candidates.isLeft('one')).toBe(true);
  candidates.touch('0xaa');
  expect(candidates.isLeft('one')).toBe(false);
});
