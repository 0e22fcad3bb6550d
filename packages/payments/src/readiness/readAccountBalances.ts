import { creditTokenAbi } from '@prism-gateway/contracts';
import type { Address, PublicClient } from 'viem';

/** An account's balances at a moment, in base units. */
export interface Balances {
  /** Wei. */
  readonly ether: bigint;
  readonly stablecoins: bigint;
  readonly credits: bigint;
}

/**
 * Reads what an account has.
 *
 * @throws viem's errors
 */
export async function readAccountBalances(
  client: PublicClient,
  account: { readonly self: Address; readonly stablecoin: Address; readonly creditToken: Address },
): Promise<Balances> {
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
