/** A clock that stands still until it is set. */
export interface FakeClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  advance(ms: number): void;
}

/**
 * Creates a clock for tests.
 *
 * @param startMs - milliseconds since the epoch; default a whole second in 2027
 * @returns the clock
 */
export function createFakeClock(startMs = 1_800_000_000_000): FakeClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}
