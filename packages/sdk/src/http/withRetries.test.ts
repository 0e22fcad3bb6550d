import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseDelay, DEFAULT_RETRY_POLICY } from './withRetries.ts';

const policy = DEFAULT_RETRY_POLICY;

describe('chooseDelay', () => {
  it('doubles, with jitter of a half, up to its most', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((attempt) => chooseDelay(policy, { attempt, random: 1 }));
    expect(delays).toEqual([200, 400, 800, 1600, 3200, 5000, 5000]);
    expect(chooseDelay(policy, { attempt: 1, random: 0 })).toBe(100);
  });

  it('never comes before Retry-After, nor later than it and the back-off', () => {
    const state = fc.record({
      attempt: fc.integer({ min: 1, max: 100 }),
      random: fc.double({ min: 0, max: 1, noNaN: true }),
      retryAfterMs: fc.integer({ min: 0, max: 120_000 }),
    });
    fc.assert(
      fc.property(state, (given) => {
        const delayMs = chooseDelay(policy, given);
        if (given.retryAfterMs > policy.maxRetryAfterMs) {
          expect(delayMs).toBeUndefined();
          return;
        }
        expect(delayMs).toBeGreaterThan(given.retryAfterMs);
        expect(delayMs).toBeLessThanOrEqual(given.retryAfterMs + policy.maxDelayMs);
      }),
    );
  });
});
