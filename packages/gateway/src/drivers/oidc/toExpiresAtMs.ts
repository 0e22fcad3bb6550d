/** Last moment that a `Date` can hold; ECMAScript, "Time Values and Time Range". */
const LAST_TIME_MS = 8_640_000_000_000_000;

/**
 * Turns a token's `exp` into our unit.
 *
 * @param exp - NumericDate: seconds since the epoch, perhaps with a fraction
 * @returns milliseconds since the epoch, whole, within what a `Date` can hold
 */
export function toExpiresAtMs(exp: number): number {
  return Math.min(Math.floor(exp * 1000), LAST_TIME_MS);
}
