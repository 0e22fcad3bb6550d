import { describe, expect, it } from 'vitest';
import { readRetryAfter } from './gatewayError.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');

describe('readRetryAfter', () => {
  it.each([
    ['0', 0],
    ['17', 17_000],
    [' 2 ', 2000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [null, undefined],
  ])('reads %j as %s ms', (value, expected) => {
    expect(readRetryAfter(value, nowMs)).toBe(expected);
  });
});
