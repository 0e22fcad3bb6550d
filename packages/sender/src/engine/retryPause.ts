import { RpcUnavailableError } from './rpcError.ts';

const MAX_FIRST_PAUSE_MS = 250;
/** Longest pause, as a multiple of the first one, and in all. */
const MAX_TIMES_FIRST = 64;
const MAX_PAUSE_MS = 10_000;

/**
 * Says how long to leave a node alone that did not do what it was asked for: doubling pauses, or what the node itself asks for.
 *
 * @param error - what was thrown
 * @param row - how many times in a row, from 1, and the pace of the sender
 * @returns milliseconds
 */
export function retryPause(error: unknown, row: { readonly faults: number; readonly pollIntervalMs: number }): number {
  const firstMs = Math.min(MAX_FIRST_PAUSE_MS, row.pollIntervalMs);
  const pauseMs = firstMs * Math.min(2 ** Math.min(row.faults - 1, 30), MAX_TIMES_FIRST);
  const askedMs = error instanceof RpcUnavailableError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(askedMs, Math.min(pauseMs, MAX_PAUSE_MS));
}
