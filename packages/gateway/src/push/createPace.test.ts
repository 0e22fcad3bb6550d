import { describe, expect, test } from 'vitest';
import { createPace } from './createPace.ts';

/** Plays ten windows of 100 ms: each commits moves, and delivers a lot whenever it may. @returns deliveries a second */
function playSecond(
  { moves, commits, utilization }: { moves: number; commits: number; utilization: number },
  lot = 8,
): number {
  let nowMs = 0;
  const pace = createPace({ now: () => nowMs, utilization: () => utilization });
  let delivered = 0;
  let nextLookMs = 0;
  for (; nowMs < 2000; nowMs++) {
    for (let i = 0; i < commits / 1000; i++) pace.recordMoves(moves / commits);
    if (nowMs < nextLookMs) continue;
    const restMs = pace.restMs();
    nextLookMs = nowMs + restMs;
    if (restMs > 0) continue;
    pace.recordLook();
    pace.recordDeliveries(lot);
    // The first second fills the window.
    if (nowMs >= 1000) delivered += lot;
  }
  return delivered;
}

describe('the pace of deliveries', () => {
  test('a process with nothing else to do rests no longer than between two looks', () => {
    expect(playSecond({ moves: 0, commits: 0, utilization: 0.1 })).toBeGreaterThan(1000);
  });

  test('calls one after another, each with its own commit, slow nothing down', () => {
    expect(playSecond({ moves: 1000, commits: 1000, utilization: 0.3 })).toBeGreaterThan(1000);
  });

  test('a busy process makes one delivery for 25 moves', () => {
    const delivered = playSecond({ moves: 4000, commits: 1000, utilization: 0.3 });
    expect(delivered).toBeGreaterThan(100);
    expect(delivered).toBeLessThanOrEqual(168);
  });

  test('so does one whose event loop is at work most of the time', () => {
    expect(playSecond({ moves: 1000, commits: 1000, utilization: 0.9 })).toBeLessThanOrEqual(48);
  });

  test('where others only read, it still delivers a lot each quarter of a second', () => {
    expect(playSecond({ moves: 0, commits: 0, utilization: 0.9 })).toBe(32);
  });

  test('one delivery at a time costs them no more, and waits no quarter of a second', () => {
    expect(playSecond({ moves: 0, commits: 0, utilization: 0.9 }, 1)).toBeGreaterThan(28);
    expect(playSecond({ moves: 0, commits: 0, utilization: 0.9 }, 1)).toBeLessThanOrEqual(32);
  });

  test('a large lot rests no longer than a small one', () => {
    expect(playSecond({ moves: 0, commits: 0, utilization: 0.9 }, 100)).toBe(400);
  });
});
