import { creditTokenAbi, payoutsAbi } from '@prism-gateway/contracts';
import { type Address, isAddressEqual, type PublicClient } from 'viem';
import { isCallRefused } from '../chain/isCallRefused.ts';
import type { RelayerConfig } from '../relayerConfig.ts';

/** Digits after the point that amounts are reckoned with. */
const DECIMALS = { creditToken: 18, stablecoin: 6 } as const;

/**
 * Compares the contracts of the settings with the chain.
 *
 * @param client - of the chain
 * @param config - which contracts
 * @returns one sentence a fault; none: they are what they should be
 * @throws viem's errors where the node does not answer
 */
export async function verifyContracts(client: PublicClient, config: RelayerConfig): Promise<readonly string[]> {
  const { exchange, creditToken, stablecoin, payouts, self } = config;
  const named: readonly (readonly [string, Address | undefined])[] = [
    ['EXCHANGE_ADDRESS', exchange],
    ['CREDIT_TOKEN_ADDRESS', creditToken],
    ['STABLECOIN_ADDRESS', stablecoin],
    ['PAYOUTS_ADDRESS', payouts],
  ];
  const codes = await Promise.all(
    named.map(async ([name, address]) => {
      if (address === undefined) return [];
      return (await client.getCode({ address })) === undefined ? [`There is no contract at ${name}, ${address}.`] : [];
    }),
  );
  const missing = codes.flat();
  if (missing.length > 0) return missing;
  const decimalsOf = (address: Address) =>
    client.readContract({ address, abi: creditTokenAbi, functionName: 'decimals' }).catch((error: unknown) => {
      if (isCallRefused(error)) return 'no';
      throw error;
    });
  const [ofCredits, ofStablecoin] = await Promise.all([decimalsOf(creditToken), decimalsOf(stablecoin)]);
  const faults: string[] = [];
  if (ofCredits !== DECIMALS.creditToken)
    faults.push(`The token at CREDIT_TOKEN_ADDRESS has ${ofCredits} decimals, not 18.`);
  if (ofStablecoin !== DECIMALS.stablecoin)
    faults.push(`The token at STABLECOIN_ADDRESS has ${ofStablecoin} decimals, not 6.`);
  if (payouts === undefined) return faults;
  const contract = { address: payouts, abi: payoutsAbi } as const;
  const [token, isPayer] = await Promise.all([
    client.readContract({ ...contract, functionName: 'creditToken' }),
    client.readContract({ ...contract, functionName: 'isPayer', args: [self] }),
  ]);
  if (!isAddressEqual(token, creditToken))
    faults.push(`The contract at PAYOUTS_ADDRESS pays out ${token}, not ${creditToken}.`);
  if (!isPayer) faults.push(`The contract at PAYOUTS_ADDRESS does not let ${self} pay: its owner must allow it.`);
  return faults;
}
