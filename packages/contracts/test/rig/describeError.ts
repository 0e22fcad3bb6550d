import type { Hex } from 'viem';
import { decodeErrorResult } from 'viem/utils';
import { exchangeAbi, forwarderAbi, payoutsAbi } from '../../src/index.ts';
import { campaignAbi } from '../generated/campaignAbi.ts';

/** Writes revert data out, like `PrismNotFound(0x…)`; `0x` where there was none. */
export function describeError(data: Hex): string {
  if (data === '0x') return '0x';
  const { errorName, args } = decodeErrorResult({
    abi: [...forwarderAbi, ...exchangeAbi, ...payoutsAbi, ...campaignAbi],
    data,
  });
  return `${errorName}(${(args ?? []).join(', ')})`;
}
