import { expect, test } from 'vitest';
import { type Condition, FIRST_CONDITION, judgeReading } from './condition.ts';

const HOUR = 3_600_000;

/** What is told when readings come one an hour. */
function tell(readings: readonly boolean[]): string[] {
  let condition: Condition = FIRST_CONDITION;
  return readings.map((isWell, hour) => {
    const judged = judgeReading(condition, { isWell, atMs: hour * HOUR });
    condition = judged.condition;
    return judged.telling ?? '-';
  });
}

test('one alert a crossing, and a recovery', () => {
  expect(tell([true, false, false, true, true, false, true])).toEqual([
    '-',
    'alert',
    '-',
    'recovery',
    '-',
    'alert',
    'recovery',
  ]);
});

test('a reminder a day, counted from what was told last', () => {
  const told = tell(Array.from({ length: 50 }, () => false));
  expect(told.flatMap((telling, hour) => (telling === '-' ? [] : [`${telling} ${hour}`]))).toEqual([
    'alert 0',
    'reminder 24',
    'reminder 48',
  ]);
});
