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
 * @param returned - of `batchMultiUserWriteData`: the entries that were refused
 * @param count - of all entries
 * @returns one an entry, in their order
 */
export function readBatchResults(returned: Hex, count: number): readonly EntryResult[] {
  const refused = decodeFunctionResult({
    abi: forwarderAbi,
    functionName: 'batchMultiUserWriteData',
    data: returned,
  });
  const reasons = new Map(refused.map(({ index, reason }) => [Number(index), reason]));
  return Array.from({ length: count }, (_, index) => {
    const reason = reasons.get(index);
    return reason === undefined ? { success: true, reason: '0x' } : { success: false, reason };
  });
}
