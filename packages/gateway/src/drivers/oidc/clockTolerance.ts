/**
 * How far the provider's clock and ours may differ on `exp` and `nbf`.
 *
 * @see docs/specification.md TOKEN-1
 */
export const CLOCK_TOLERANCE_SECONDS = 5;
