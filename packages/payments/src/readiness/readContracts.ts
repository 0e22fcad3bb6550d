import { creditTokenAbi, exchangeAbi, payoutsAbi } from '@prism-gateway/contracts';
import { type Address, isAddressEqual, type PublicClient } from 'viem';
import { isCallRefused } from '../chain/isCallRefused.ts';
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
