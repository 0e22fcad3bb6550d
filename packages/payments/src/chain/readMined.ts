import { creditTokenAbi } from '@prism-gateway/contracts';
import type { Sent } from '@prism-gateway/sender';
import { type Address, parseEventLogs } from 'viem';
import type { MinedAttempt } from '../journal/payment.ts';

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/**
 * Reads what a mined transaction has cost and moved.
 *
 * @returns gas, and the tokens that came to the account or left it
 */
export function readMined(
  sent: Sent,
  parties: { readonly self: Address; readonly creditToken: Address; readonly stablecoin: Address },
): MinedAttempt {
  const { self, creditToken, stablecoin } = parties;
  // Both tokens have the one event.
  const transfers = parseEventLogs({ abi: creditTokenAbi, eventName: 'Transfer', logs: [...sent.logs] }).filter(
    ({ args }) => isSame(args.from, self) !== isSame(args.to, self),
  );
  const sum = (token: Address) =>
    transfers.filter(({ address }) => isSame(address, token)).reduce((all, { args }) => all + args.value, 0n);
  return {
    blockNumber: sent.blockNumber,
    gasUsed: sent.gasUsed,
    gasPrice: sent.effectiveGasPrice,
    stablecoins: sum(stablecoin),
    credits: sum(creditToken),
  };
}
