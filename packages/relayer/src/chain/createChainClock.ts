import { ChainError } from './chainError.ts';
import type { BlockHead } from './chainReader.ts';

/** By how much the time of day may be ahead of what the blocks say before the node is asked, in seconds: blocks take a moment to arrive. */
const TRUSTED_SECONDS = 2n;
/** A chain whose head stands still for longer makes blocks only for transactions, in milliseconds: they say nothing of the time. */
const STANDS_STILL_MS = 30_000;
/** How long a node that does not tell of its pending block is not asked again, in milliseconds. */
const REFUSED_MS = 30_000;

/** @returns the time that the next block is expected to have, in Unix seconds @param head - the newest block */
export type ChainClock = (head: Pick<BlockHead, 'number' | 'timestamp'>) => Promise<bigint>;

const larger = (a: bigint, b: bigint) => (a > b ? a : b);
const smaller = (a: bigint, b: bigint) => (a < b ? a : b);

/**
 * Makes the clock of a chain: the time of day as far as the blocks bear it out, since the Forwarder refuses what comes early by a
 * clock that is fast. The newest block's time, and what has passed since it was first seen, are never ahead of the chain.
 *
 * @param options.pendingSeconds - reads the time of the node's pending block
 * @param options.now - Unix time in milliseconds
 */
export function createChainClock(options: {
  readonly pendingSeconds: () => Promise<bigint>;
  readonly now: () => number;
}): ChainClock {
  const { pendingSeconds, now } = options;
  let seen = { number: -1n, atMs: 0 };
  let refusedUntilMs = 0;

  async function askNode(): Promise<bigint> {
    if (now() < refusedUntilMs) return 0n;
    try {
      return await pendingSeconds();
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      refusedUntilMs = now() + REFUSED_MS;
      return 0n;
    }
  }

  return async function readSeconds({ number, timestamp }) {
    const nowMs = now();
    if (number !== seen.number) seen = { number, atMs: nowMs };
    const stoodMs = nowMs - seen.atMs;
    const wall = BigInt(Math.floor(nowMs / 1000));
    const proven = timestamp + BigInt(Math.floor(stoodMs / 1000));
    // No earlier than the one before; a chain that makes blocks for transactions has several a second.
    if (wall <= proven + TRUSTED_SECONDS || stoodMs > STANDS_STILL_MS) return larger(wall, timestamp);
    return smaller(wall, larger(proven, await askNode()));
  };
}
