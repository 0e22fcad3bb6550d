import { chooseBackOff } from '@prism-gateway/node';
import { RpcUnavailableError } from '@prism-gateway/node/rpc';

const MAX_FIRST_PAUSE_MS = 250;
/** Longest pause, as a multiple of the first one, and in all. */
const MAX_TIMES_FIRST = 64;
const MAX_PAUSE_MS = 10_000;
/** A key has one sender: there is nobody from whom its pauses would have to differ. */
const NO_JITTER = 1;

/**
 * Says how long to leave a node alone that did not do what it was asked for: doubling pauses, and what the node itself asks for.
 *
 * @param row - how many times in a row, from 1, and how often the sender polls
 * @returns milliseconds
 */
export function retryPause(error: unknown, row: { readonly faults: number; readonly pollIntervalMs: number }): number {
  const firstMs = Math.min(MAX_FIRST_PAUSE_MS, row.pollIntervalMs);
  const policy = { firstMs, maxMs: Math.min(MAX_PAUSE_MS, firstMs * MAX_TIMES_FIRST) };
  const askedMs = error instanceof RpcUnavailableError ? error.retryAfterMs : undefined;
  return chooseBackOff(policy, { failures: row.faults, random: NO_JITTER, askedMs });
}
