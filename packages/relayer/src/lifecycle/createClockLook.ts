import { createClockWatch } from '@prism-gateway/node';
import type { RelayerContext } from './context.ts';

/**
 * Makes the look at the machine's clock: if it was set, what is kept by its times moves with it, so that what has waited for a minute still
 * has.
 *
 * @see docs/specification.md RELAY-25
 */
export function createClockLook({ gateway, inFlight, journal, events, ...clocks }: RelayerContext): () => void {
  const findClockStep = createClockWatch(clocks);
  return function lookAtClock() {
    const byMs = findClockStep();
    if (byMs === 0) return;
    events.emit({ type: 'clock-set', byMs });
    gateway.candidates.shiftTimes(byMs);
    inFlight.shiftTimes(byMs);
    journal.shiftTimes(byMs);
  };
}
