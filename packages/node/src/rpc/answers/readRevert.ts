import type { Hex } from 'viem';
import { RpcAnswerError } from '../rpcErrors.ts';

/** A call that the contract reverted. */
export interface Revert {
  /** The return data; undefined if the node does not give it. */
  readonly reverted: Hex | undefined;
}

/** The code of a revert, as geth has it since 1.9.15 and others since. */
const REVERTED = 3;

/**
 * Distinguishes a revert from an error of the node.
 *
 * @returns the revert; undefined when it is none
 */
export function readRevert(error: unknown): Revert | undefined {
  if (!(error instanceof RpcAnswerError)) return undefined;
  // Nodes without code 3 say it in words alone.
  if (error.code !== REVERTED && !/revert/i.test(error.message)) return undefined;
  const { data } = error;
  // Some nodes wrap it once more.
  const inner = typeof data === 'object' && data !== null && 'data' in data ? data.data : data;
  // The pattern is what `Hex` promises.
  return { reverted: typeof inner === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(inner) ? (inner as Hex) : undefined };
}
