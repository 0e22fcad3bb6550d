import { creditTokenAbi, exchangeAbi } from '@prism-gateway/contracts';
import type { Address, PublicClient } from 'viem';
import { computeCreditsOwed } from '../amounts/computeCredits.ts';
import { isCallRefused } from '../chain/isCallRefused.ts';
import { readAmounts } from '../chain/readAmounts.ts';
import { StepError } from '../StepError.ts';

/** The facts of one block that decide a purchase. */
export interface Offer {
  /** Credit base units that a purchase gives now, in the Exchange's word, or as the rate has it. */
  readonly quoted: bigint;
  /** Credit base units that this instance holds. */
  readonly held: bigint;
}

/** Reads prices of the Exchange. One that has `buy` alone is taken to sell at the expected rate. */
export interface Exchange {
  /** Credits for one stablecoin: the Exchange's word, or the expected rate if it says nothing. */
  readRate(): Promise<bigint>;
  /** The credits that an amount of stablecoin base units buys, and those in hand already. */
  readOffer(stablecoinAmount: bigint): Promise<Offer>;
}

/**
 * Creates the reader.
 *
 * @param parts - node, contracts, this instance's address, and credits expected for one stablecoin
 * @see docs/payments.md, "Install it"
 */
export function createExchange(parts: {
  readonly client: PublicClient;
  readonly exchange: Address;
  readonly creditToken: Address;
  readonly self: Address;
  readonly expectedRate: bigint;
}): Exchange {
  const { client, exchange, creditToken, self, expectedRate } = parts;
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
    async readOffer(stablecoinAmount) {
      const [quoted, held] = await readAmounts(client, [
        { ...contract, functionName: 'quote', args: [stablecoinAmount] },
        { address: creditToken, abi: creditTokenAbi, functionName: 'balanceOf', args: [self] },
      ]);
      if (held === undefined) throw new StepError('CHAIN_UNAVAILABLE', `The token ${creditToken} shows no balance.`);
      return { held, quoted: quoted ?? computeCreditsOwed(stablecoinAmount, await readRate()) };
    },
  };
}
