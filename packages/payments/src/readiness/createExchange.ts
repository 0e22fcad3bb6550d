import { exchangeAbi } from '@prism-gateway/contracts';
import type { Address, PublicClient } from 'viem';
import { isCallRefused } from '../chain/isCallRefused.ts';
import { computeCreditsOwed } from '../payments/computeCredits.ts';

/** Reads prices of the Exchange. One that has `buy` alone is taken to sell at the expected rate. */
export interface Exchange {
  /** Credits for one stablecoin: the Exchange's word, or the expected rate where it says nothing. */
  readRate(): Promise<bigint>;
  /** Credit base units that a purchase gives now, in the Exchange's word, or as the rate has it. */
  quote(stablecoinAmount: bigint): Promise<bigint>;
}

/**
 * Creates the reader.
 *
 * @param parts - node, contract, and credits expected for one stablecoin
 * @returns the reader
 * @see docs/payments.md, "The Exchange"
 */
export function createExchange(parts: {
  readonly client: PublicClient;
  readonly exchange: Address;
  readonly expectedRate: bigint;
}): Exchange {
  const { client, exchange, expectedRate } = parts;
  const contract = { address: exchange, abi: exchangeAbi } as const;

  async function readRate(): Promise<bigint> {
    try {
      return await client.readContract({ ...contract, functionName: 'rate' });
    } catch (error) {
      if (isCallRefused(error)) return expectedRate;
      throw error;
    }
  }

  return {
    readRate,
    async quote(stablecoinAmount) {
      try {
        return await client.readContract({ ...contract, functionName: 'quote', args: [stablecoinAmount] });
      } catch (error) {
        if (isCallRefused(error)) return computeCreditsOwed(stablecoinAmount, await readRate());
        throw error;
      }
    },
  };
}
