import { expect, test } from 'vitest';
import { createClockWatch } from './createClockWatch.ts';

test('a clock that is set is found once, and one that is corrected little by little is not', () => {
  let [passedMs, wrongMs] = [0, 0];
  const findClockStep = createClockWatch({ now: () => 1e12 + passedMs + wrongMs, monotonicNow: () => passedMs });
  passedMs += 3_600_000;
  expect(findClockStep()).toBe(0);
  wrongMs = -240_000;
  expect(findClockStep()).toBe(-240_000);
  expect(findClockStep()).toBe(0);
  for (const end = wrongMs + 60_000; wrongMs < end; wrongMs += 1000) expect(findClockStep()).toBe(0);
  wrongMs = 7_200_000;
  expect(findClockStep()).toBe(7_381_000);
});
