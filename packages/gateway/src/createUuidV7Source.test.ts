import { createFakeClock } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { createUuidV7Source } from './createUuidV7Source.ts';

/** @see https://www.rfc-editor.org/rfc/rfc9562#section-5.7 */
const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const timeOf = (uuid: string) => Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16);
const isAscending = (ids: readonly string[]) => ids.every((id, i) => i === 0 || id > (ids[i - 1] ?? ''));
const make = (next: () => string, count: number) => Array.from({ length: count }, next);

test('has the form of RFC 9562 and begins with the time', () => {
  const clock = createFakeClock();
  const next = createUuidV7Source(clock.now);
  for (let i = 0; i < 1000; i++) {
    clock.advance(1 + (i % 7));
    const id = next();
    expect(id).toMatch(FORM);
    expect(timeOf(id)).toBe(clock.now());
  }
});

test('grows within one millisecond, past its counter too, and never repeats', () => {
  const next = createUuidV7Source(createFakeClock().now);
  const ids = make(next, 20_000);
  expect(isAscending(ids)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(FORM);
});

test('grows when the clock goes back, and follows it again when it has caught up', () => {
  const clock = createFakeClock();
  const start = clock.now();
  const next = createUuidV7Source(clock.now);
  const before = make(next, 10);
  clock.advance(-3_600_000);
  const meanwhile = make(next, 10_000);
  clock.advance(3_600_000 + 1000);
  const after = make(next, 10);
  expect(isAscending([...before, ...meanwhile, ...after])).toBe(true);
  expect(timeOf(meanwhile[0] ?? '')).toBe(start);
  expect(timeOf(after[0] ?? '')).toBe(start + 1000);
});

test('cannot be guessed: the bits behind time and counter differ from id to id, in every process', () => {
  const { now } = createFakeClock();
  const ends = [...make(createUuidV7Source(now), 500), ...make(createUuidV7Source(now), 500)].map((id) => id.slice(19));
  expect(new Set(ends).size).toBe(1000);
  const counters = Array.from({ length: 200 }, () => Number.parseInt(createUuidV7Source(now)().slice(15, 18), 16));
  expect(new Set(counters).size).toBeGreaterThan(100);
  expect(Math.max(...counters)).toBeLessThan(0x800);
});
