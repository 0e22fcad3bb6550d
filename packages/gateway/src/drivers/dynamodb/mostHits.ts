import { slidingUse, type Take } from '../../ports/rateLimitStore.ts';

/**
 * Turns the one formula of the rate limits into a bound that a condition can hold: the most hits that the current window may
 * have.
 *
 * @param previous - hits of the window before
 * @param take - the hit that is asked for
 * @returns a whole number; less than one: not even this hit
 */
export function mostHits(previous: number, { window, elapsed, limit }: Omit<Take, 'key'>): number {
  const useOf = (current: number) => slidingUse({ current, previous }, { window, elapsed });
  const guess = Math.floor(limit - useOf(0));
  // Some fractions are rounded another way in the sum than in the difference.
  return useOf(guess + 1) <= limit ? guess + 1 : guess;
}
