/**
 * How far the provider's clock and ours may differ on `exp` and `nbf`.
 *
 * @see DECISIONS.md, "Token times"
 */
export const CLOCK_TOLERANCE_SECONDS = 5;
