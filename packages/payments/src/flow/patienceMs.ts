import type { RelayerConfig } from './relayerConfig.ts';

/** A rival needs the wait of a takeover and the time of a payout; twice the wait is enough for both. */
const LEAST_WAITS = 2;

/**
 * Computes how long another instance is given before its payment is taken over: for each instance another time, so that only one does so.
 *
 * @param config - addresses and the wait of a takeover
 * @returns milliseconds
 */
export function patienceMs(config: Pick<RelayerConfig, 'self' | 'others' | 'takeoverWaitMs'>): number {
  const { self, others, takeoverWaitMs } = config;
  const addresses = [self, ...others].map((address) => address.toLowerCase()).toSorted();
  return (LEAST_WAITS + addresses.indexOf(self.toLowerCase())) * takeoverWaitMs;
}
