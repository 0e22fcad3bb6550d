import { formatCredits } from '../formats.ts';
import type { Expected } from '../plan/createPlanner.ts';
import { type Checked, checkAll } from './checked.ts';

/** Earnings and costs of a relayer. */
export interface Earnings {
  readonly name: string;
  readonly isOfficial: boolean;
  /** Requests and transactions that it has carried out, as the Forwarder's events say. */
  readonly requests: number;
  readonly transactions: number;
  /** Fees of its requests, its share of them by the events, and the credits that it holds; in base units. */
  readonly fees: bigint;
  readonly share: bigint;
  readonly credits: bigint;
  /** Ether spent on gas, and what its credits are worth, in wei. */
  readonly spent: bigint;
  readonly worth: bigint;
}

export interface FeeFacts {
  readonly earnings: readonly Earnings[];
  /** Credits of the treasury, in base units. */
  readonly treasury: bigint;
  readonly expected: Expected;
}

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

/**
 * Checks that each credit that prisms have paid is where it belongs, and that relaying paid.
 *
 * @param facts - what the chain holds, and what users have signed
 */
export function checkFees({ earnings, treasury, expected }: FeeFacts): readonly Checked[] {
  const { relayerFees, protocolFees } = expected;
  const kept = sum(earnings.map(({ fees, share }) => fees - share));
  const taken = relayerFees + protocolFees;
  const paid = sum(earnings.map(({ credits }) => credits)) + treasury;
  return [
    checkAll({
      claim: 'each relayer holds its share of the fees of what it carried out',
      found: earnings.map(({ name, credits }) => `${name} ${formatCredits(credits)}`).join(', '),
      faults: earnings.flatMap(({ name, share, credits }) =>
        share === credits ? [] : [`${name} holds ${formatCredits(credits)}, its share is ${formatCredits(share)}`],
      ),
    }),
    checkAll({
      claim: 'the treasury holds the protocol fees and the rest of the other fees',
      found: `${formatCredits(treasury)} credits`,
      faults: treasury === protocolFees + kept ? [] : [`it should be ${formatCredits(protocolFees + kept)}`],
    }),
    checkAll({
      claim: 'relayers and treasury got exactly what prisms paid',
      found: `${formatCredits(taken)} credits`,
      faults: taken === paid ? [] : [`they got ${formatCredits(paid)} of ${formatCredits(taken)}`],
    }),
    checkAll({
      claim: 'both relayers carried something out, and their fees cover their gas',
      found: earnings.map(({ name, requests }) => `${name} ${requests} requests`).join(', '),
      faults: earnings.flatMap(({ name, requests, spent, worth }) =>
        requests > 0 && worth > spent ? [] : [`${name}: ${requests} requests, ${worth} wei earned, ${spent} wei spent`],
      ),
    }),
  ];
}
