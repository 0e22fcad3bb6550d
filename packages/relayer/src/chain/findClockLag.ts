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

/**
 * Finds out whether an only node has fallen behind: by such a newest block no request ends, and nobody else says otherwise.
 *
 * @param blockSeconds - time of the newest block, in Unix seconds
 * @param nowMs - Unix time in milliseconds
 * @param maxAgeSeconds - default 60, `MAX_HEAD_AGE_SECONDS`; 0: never
 * @returns what is wrong, for people; undefined if nothing is seen to be
 * @see docs/specification.md RELAY-20
 */
export function findStaleHead(blockSeconds: bigint, nowMs: number, maxAgeSeconds: number): string | undefined {
  const ageSeconds = Math.floor(nowMs / 1000) - Number(blockSeconds);
  if (maxAgeSeconds === 0 || ageSeconds <= maxAgeSeconds) return undefined;
  return `the newest block of the only node is ${ageSeconds} seconds old, and no request ends by it; see whether the node is stuck, or this machine's clock ahead`;
}
