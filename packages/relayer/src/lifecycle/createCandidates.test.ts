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
