/**
 * Joins a caller's signal with one of our own.
 *
 * @param own - such as a time limit
 * @param given - the caller's, if any
 * @returns a signal that fires when either does
 */
export function joinSignals(own: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? own : AbortSignal.any([given, own]);
}
