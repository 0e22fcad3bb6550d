/** The two readings of a clock are a moment apart, and it is corrected in small steps: less is none, in milliseconds. */
const LEAST_STEP_MS = 2000;

/**
 * Watches whether the machine's clock was set: by a person, by NTP after a start, or by a sleep that no program has noticed.
 *
 * @param clocks.now - Unix time in milliseconds, by the machine's clock
 * @param clocks.monotonicNow - milliseconds of a clock that is never set
 * @returns by how many milliseconds it was set since the last call, below 0 if back; 0 if it was not
 */
export function createClockWatch(clocks: {
  readonly now: () => number;
  readonly monotonicNow: () => number;
}): () => number {
  const measure = () => clocks.now() - clocks.monotonicNow();
  let known = measure();
  return function findClockStep() {
    const before = known;
    known = measure();
    const stepMs = Math.round(known - before);
    return Math.abs(stepMs) < LEAST_STEP_MS ? 0 : stepMs;
  };
}
