import { creditTokenAbi, exchangeAbi, payoutsAbi } from '@prism-gateway/contracts';
import { type Address, type Hex, isAddressEqual, type PublicClient, zeroAddress, zeroHash } from 'viem';
import { isCallRefused } from '../chain/isCallRefused.ts';
import { readAmounts } from '../chain/readAmounts.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { PayerConfig } from '../payerConfig.ts';
import { StepError } from '../StepError.ts';
import type { Balances } from './readAccountBalances.ts';

/** Roles and settings of the contracts, all of one block, by which claims are decided. */
export interface ContractState {
  readonly balances: Balances;
  /** Credits for one stablecoin: the Exchange's word, or the expected rate if it says nothing. */
  readonly rate: bigint;
  /** Of the Exchange and of Payouts, in base units. */
  readonly allowances: readonly bigint[];
}

const read = (address: Address) => ({ address, abi: creditTokenAbi });

/**
 * Reads how an instance stands: two calls, whatever there is to pay.
 *
 * @throws StepError `CHAIN_UNAVAILABLE` if a token does not answer; viem's errors
 */
export async function readContractState(client: PublicClient, config: PayerConfig): Promise<ContractState> {
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
    throw new StepError('CHAIN_UNAVAILABLE', 'A token shows neither balance nor allowance.');
  return { balances: { ether, stablecoins, credits }, rate, allowances: [buying, paying] };
}

/** Digits after the point that amounts are reckoned with. */
const DECIMALS = { creditToken: 18, stablecoin: 6 } as const;

interface ContractParts {
  readonly client: PublicClient;
  readonly config: PayerConfig;
  readonly journal: Pick<PaymentJournal, 'fact' | 'setFact'>;
}

/** An answer of a contract; undefined if it has no such function. */
async function ask<Answer>(question: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await question;
  } catch (error) {
    if (isCallRefused(error)) return undefined;
    throw error;
  }
}

const NO_FRONTEND = zeroHash;

/** Names the journal's fact of the frontend that a contract `Payouts` lets this instance pay for: payout ids are bound to it. */
const frontendFact = (payouts: Address) => `frontend in Payouts ${payouts}`;

/** Creates what reads the frontend's id in the contract `Payouts`. The first answer holds: a payout id under another one would pay once more. */
export function createFrontendReader({ client, config, journal }: ContractParts): () => Promise<Hex> {
  return async () => {
    const { payouts: address = zeroAddress, self } = config;
    const known = journal.fact(frontendFact(address));
    // Only a word of 32 bytes is written.
    if (known !== undefined) return known as Hex;
    const args = [self] as const;
    const frontend = await client.readContract({ address, abi: payoutsAbi, functionName: 'frontendOf', args });
    if (frontend === NO_FRONTEND) throw new StepError('CONTRACTS_WRONG', describeNoPayer(self));
    journal.setFact(frontendFact(address), frontend);
    return frontend;
  };
}

const describeNoPayer = (self: Address) =>
  `The contract at PAYOUTS_ADDRESS does not let ${self} pay: its owner must allow it.`;

async function verifyPayouts({ client, config, journal }: ContractParts, address: Address): Promise<readonly string[]> {
  const { creditToken, self, others, frontendId } = config;
  const contract = { address, abi: payoutsAbi } as const;
  const frontendOf = (payer: Address) =>
    ask(client.readContract({ ...contract, functionName: 'frontendOf', args: [payer] }));
  const [token, frontend, ...ofOthers] = await Promise.all([
    ask(client.readContract({ ...contract, functionName: 'creditToken' })),
    ...[self, ...others].map(frontendOf),
  ]);
  if (token === undefined || frontend === undefined)
    return [`The contract at PAYOUTS_ADDRESS, ${address}, is no contract Payouts.`];
  if (!isAddressEqual(token, creditToken))
    return [`The contract at PAYOUTS_ADDRESS pays out ${token}, not CREDIT_TOKEN_ADDRESS, ${creditToken}.`];
  if (frontend === NO_FRONTEND) return [describeNoPayer(self)];
  const faults: string[] = [];
  const known = journal.fact(frontendFact(address));
  if (known !== undefined && known !== frontend)
    faults.push(`The contract Payouts lets ${self} pay for the frontend ${frontend}, and the journal is of ${known}.`);
  if (frontendId !== undefined && frontendId !== frontend)
    faults.push(
      `The contract Payouts lets ${self} pay for the frontend ${frontend}, and FRONTEND_ID is ${frontendId}.`,
    );
  for (const [place, other] of others.entries()) {
    const its = ofOthers[place];
    if (its !== undefined && its !== NO_FRONTEND && its !== frontend)
      faults.push(`The contract Payouts lets ${other}, of RELAYER_ADDRESSES, pay for another frontend than ${self}.`);
  }
  return faults;
}

/** The kind of an address that is no Exchange, in a word; undefined: it may be one. */
async function findOtherKind(client: PublicClient, address: Address, self: Address): Promise<string | undefined> {
  const [supply, frontend] = await Promise.all([
    ask(client.readContract({ address, abi: creditTokenAbi, functionName: 'totalSupply' })),
    ask(client.readContract({ address, abi: payoutsAbi, functionName: 'frontendOf', args: [self] })),
  ]);
  if (supply !== undefined) return 'a token';
  return frontend === undefined ? undefined : 'a contract Payouts';
}

/**
 * Compares the contracts of the settings with the chain.
 *
 * @returns one sentence a fault; none: they are what they should be
 * @throws viem's errors if the node does not answer
 * @see docs/specification.md PAY-5
 */
export async function verifyContracts(parts: ContractParts): Promise<readonly string[]> {
  const { client } = parts;
  const { exchange, creditToken, stablecoin, payouts, self } = parts.config;
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
    ask(client.readContract({ address, abi: creditTokenAbi, functionName: 'decimals' }));
  const [ofCredits, ofStablecoin, otherKind] = await Promise.all([
    decimalsOf(creditToken),
    decimalsOf(stablecoin),
    findOtherKind(client, exchange, self),
  ]);
  const faults: string[] = [];
  if (ofCredits !== DECIMALS.creditToken)
    faults.push(`The token at CREDIT_TOKEN_ADDRESS has ${ofCredits ?? 'no'} decimals, not 18.`);
  if (ofStablecoin !== DECIMALS.stablecoin)
    faults.push(`The token at STABLECOIN_ADDRESS has ${ofStablecoin ?? 'no'} decimals, not 6.`);
  if (otherKind !== undefined)
    faults.push(`The contract at EXCHANGE_ADDRESS, ${exchange}, is ${otherKind}, and no Exchange.`);
  return payouts === undefined ? faults : [...faults, ...(await verifyPayouts(parts, payouts))];
}
