import { creditTokenAbi, exchangeAbi } from '@prism-gateway/contracts';
import type { Address, PublicClient } from 'viem';
import { readAmounts } from '../chain/readAmounts.ts';
import type { RelayerConfig } from '../relayerConfig.ts';
import { StepError } from '../StepError.ts';
import type { Purse } from './readPurse.ts';

/** What claims are decided by; what contracts say of it is of one block. */
export interface Standing {
  readonly purse: Purse;
  /** Credits for one stablecoin: the Exchange's word, or the expected rate where it says nothing. */
  readonly rate: bigint;
  /** Of the Exchange and of Payouts, in base units. */
  readonly allowances: readonly bigint[];
}

const read = (address: Address) => ({ address, abi: creditTokenAbi });

/**
 * Reads how an instance stands: two calls, whatever there is to pay.
 *
 * @param client - of the chain
 * @param config - contracts and address
 * @returns balances, rate and allowances
 * @throws StepError `CHAIN_UNAVAILABLE` where a token does not answer; viem's errors
 */
export async function readStanding(client: PublicClient, config: RelayerConfig): Promise<Standing> {
  const { self, exchange, stablecoin, creditToken, payouts } = config;
  const [answers, ether] = await Promise.all([
    readAmounts(client, [
      { ...read(stablecoin), functionName: 'balanceOf', args: [self] },
      { ...read(creditToken), functionName: 'balanceOf', args: [self] },
      { ...read(stablecoin), functionName: 'allowance', args: [self, exchange] },
      // Without Payouts it is the one above again.
      payouts === undefined
        ? { ...read(stablecoin), functionName: 'allowance', args: [self, exchange] }
        : { ...read(creditToken), functionName: 'allowance', args: [self, payouts] },
      { address: exchange, abi: exchangeAbi, functionName: 'rate' },
    ]),
    client.getBalance({ address: self }),
  ]);
  const [stablecoins, credits, buying, paying, rate = config.expectedRate] = answers;
  if (stablecoins === undefined || credits === undefined || buying === undefined || paying === undefined)
    throw new StepError('CHAIN_UNAVAILABLE', 'A token tells neither balance nor allowance.');
  return { purse: { ether, stablecoins, credits }, rate, allowances: [buying, paying] };
}
