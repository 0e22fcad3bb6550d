import { creditTokenAbi } from '@prism-gateway/contracts';
import type { Address, PublicClient } from 'viem';

/** What an account has at a moment, in base units. */
export interface Purse {
  /** Wei. */
  readonly ether: bigint;
  readonly stablecoins: bigint;
  readonly credits: bigint;
}

/**
 * Reads what an account has.
 *
 * @param client - of the chain
 * @param account - its address, and the tokens
 * @returns the balances
 * @throws viem's errors
 */
export async function readPurse(
  client: PublicClient,
  account: { readonly self: Address; readonly stablecoin: Address; readonly creditToken: Address },
): Promise<Purse> {
  const { self, stablecoin, creditToken } = account;
  const balanceOf = (address: Address) =>
    client.readContract({ address, abi: creditTokenAbi, functionName: 'balanceOf', args: [self] });
  const [ether, stablecoins, credits] = await Promise.all([
    client.getBalance({ address: self }),
    balanceOf(stablecoin),
    balanceOf(creditToken),
  ]);
  return { ether, stablecoins, credits };
}
