import { creditTokenAbi } from '@prism-gateway/contracts';
import type { Address } from 'viem';
import type { Party } from '../world/accounts.ts';
import { WORLD } from '../world/settings.ts';
import type { World } from '../world/startWorld.ts';
import type { Execution } from './execution.ts';

/** What a relayer has earned and spent. */
export interface Earnings {
  readonly name: string;
  readonly address: Address;
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

const WHOLE_BPS = 10_000n;

/** What a relayer gets of the fees of one transaction: rounded down, as the Forwarder does. */
function shareOf(fees: bigint, isOfficial: boolean): bigint {
  return isOfficial ? fees : (fees * BigInt(WORLD.relayerShareBps)) / WHOLE_BPS;
}

/** Reads the credits of an address. */
export async function readCredits({ chain, deployment }: World, owner: Address): Promise<bigint> {
  const place = { address: deployment.creditToken, abi: creditTokenAbi, functionName: 'balanceOf' } as const;
  return await chain.readContract({ ...place, args: [owner] });
}

async function readRelayer(
  world: World,
  { party, isOfficial }: { readonly party: Party; readonly isOfficial: boolean },
  executions: readonly Execution[],
): Promise<Earnings> {
  const { address } = party.account;
  const own = executions.filter(({ events }) => events[0]?.relayer === address);
  const byTransaction = Map.groupBy(own, ({ receipt }) => receipt?.transactionHash);
  const fees = [...byTransaction.values()].map((carried) =>
    carried.flatMap(({ events }) => events).reduce((sum, { relayerFee }) => sum + relayerFee, 0n),
  );
  const [credits, ether] = await Promise.all([readCredits(world, address), world.chain.getBalance({ address })]);
  return {
    name: party.name,
    address,
    isOfficial,
    requests: own.length,
    transactions: byTransaction.size,
    fees: fees.reduce((sum, fee) => sum + fee, 0n),
    share: fees.reduce((sum, fee) => sum + shareOf(fee, isOfficial), 0n),
    credits,
    spent: WORLD.etherPerRelayer - ether,
    worth: credits / WORLD.creditsPerEth,
  };
}

/**
 * Reads what each relayer has earned and spent.
 *
 * @param world - whose chain
 * @param executions - of all requests
 */
export async function readEarnings(world: World, executions: readonly Execution[]): Promise<readonly Earnings[]> {
  const { official, other } = world.relayers;
  return await Promise.all([
    readRelayer(world, { party: official, isOfficial: true }, executions),
    readRelayer(world, { party: other, isOfficial: false }, executions),
  ]);
}
