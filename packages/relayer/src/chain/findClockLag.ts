/** By how much a newest block may be later than this machine's clock, in seconds. */
const MAX_LEAD_SECONDS = 60;

/**
 * Compares this machine's clock with the chain's. A block may be old, for a chain may stand still; but none is of the future.
 *
 * @param blockSeconds - time of the newest block, in Unix seconds
 * @param nowMs - Unix time in milliseconds
 * @returns what is wrong, for people; undefined if nothing is seen to be
 * @see docs/specification.md RELAY-25
 */
export function findClockLag(blockSeconds: bigint, nowMs: number): string | undefined {
  const leadSeconds = Number(blockSeconds) - Math.floor(nowMs / 1000);
  if (leadSeconds <= MAX_LEAD_SECONDS) return undefined;
  return `it is ${leadSeconds} seconds behind the chain's newest block; set the clock of this machine`;
}
