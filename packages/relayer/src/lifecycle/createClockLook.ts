import { createClockWatch } from '@prism-gateway/node';
import type { RelayerContext } from './context.ts';

/**
 * Makes the look at the machine's clock: if it was set, what is kept by its times moves with it, so that what has waited for a minute still
 * has.
 *
 * @returns looks; it throws an error of SQLite if the journal cannot be written, and goes on with that at the next look
 * @see docs/specification.md RELAY-25
 */
export function createClockLook({ gateway, inFlight, journal, events, ...clocks }: RelayerContext): () => void {
  const findClockStep = createClockWatch(clocks);
  /** By how much the journal's times are to move yet. */
  let unwrittenMs = 0;
  return function lookAtClock() {
    const byMs = findClockStep();
    if (byMs !== 0) {
      events.emit({ type: 'clock-set', byMs });
      gateway.candidates.shiftTimes(byMs);
      inFlight.shiftTimes(byMs);
      unwrittenMs += byMs;
    }
    if (unwrittenMs === 0) return;
    journal.shiftTimes(unwrittenMs);
    unwrittenMs = 0;
  };
}
