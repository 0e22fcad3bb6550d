import { expect, it } from 'vitest';
import { findWorstDay } from './worstDay.ts';

const page = { what: 'page', writeUnits: 0, readUnits: 100, bodyBytes: 0, answerBytes: 0, waitSeconds: 0 };
const large = { what: 'large', writeUnits: 100, readUnits: 0, bodyBytes: 1000, answerBytes: 0, waitSeconds: 0 };

it('spends the bytes on the dearest calls, and the other calls on the next dearest', () => {
  const limits = { callsInFiveMinutes: 50, writeBytesAMinute: 3000 };
  expect(findWorstDay([page, large], limits)).toEqual([
    { what: 'large', calls: 3 * 1440, usd: expect.closeTo(3 * 1440 * 66.05e-6) },
    { what: 'page', calls: 7 * 1440, usd: expect.closeTo(7 * 1440 * 16.05e-6) },
  ]);
});

it('makes no more calls than the address may', () => {
  const limits = { callsInFiveMinutes: 5, writeBytesAMinute: 1_000_000 };
  expect(findWorstDay([large, page], limits).reduce((sum, { calls }) => sum + calls, 0)).toBe(1440);
});

it('counts what an instance costs that waits', () => {
  const wait = { what: 'wait', writeUnits: 0, readUnits: 0, bodyBytes: 0, answerBytes: 0, waitSeconds: 25 };
  const [line] = findWorstDay([page, wait], { callsInFiveMinutes: 5, writeBytesAMinute: 0 });
  expect(line).toEqual({ what: 'wait', calls: 1440, usd: expect.closeTo(1440 * (3.55e-6 + 25 * 3.33335e-6)) });
});
