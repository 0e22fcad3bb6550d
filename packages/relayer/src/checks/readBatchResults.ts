import { forwarderAbi } from '@prism-gateway/contracts';
import type { Hex } from 'viem';
import { decodeFunctionResult } from 'viem/utils';

/** What became of one entry of a multi-user batch. */
export interface EntryResult {
  readonly success: boolean;
  /** The ABI-encoded custom error; empty where it was written. */
  readonly reason: Hex;
}

/**
 * Reads what a simulated multi-user batch returned.
 *
 * @param returned - of `batchMultiUserWriteData`
 * @returns one an entry, in their order
 */
export function readBatchResults(returned: Hex): readonly EntryResult[] {
  return decodeFunctionResult({ abi: forwarderAbi, functionName: 'batchMultiUserWriteData', data: returned });
}
