import { isAddress } from 'viem';
import { formatAmount, formatCredits, formatStablecoins } from '../amounts/formatAmount.ts';
import { isCallRefused } from '../chain/isCallRefused.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { readAccountBalances } from '../readiness/readAccountBalances.ts';
import type { Settings } from '../settings/settings.ts';
import { openNode, toUnreachedNode } from './openNode.ts';

/** Payments whose middle amount and gas say how far balances go. */
const SAMPLE = 50;

function middle(amounts: readonly bigint[]): bigint {
  return amounts.toSorted((one, other) => (one < other ? -1 : 1))[Math.floor(amounts.length / 2)] ?? 0n;
}

/** For how many payments like the last ones a balance is enough. */
function reachOf(balance: bigint, costs: readonly bigint[]): string {
  const cost = middle(costs);
  return cost === 0n ? '' : `about ${balance / cost} payments`;
}

/**
 * Reads what an instance has, and how far that goes.
 *
 * @param journal - says whose journal it is, and what payments cost of late
 * @returns undefined if the settings name no node or token; a node that cannot be asked is said so
 */
export async function readBalances(
  settings: Settings,
  journal: PaymentJournal,
): Promise<Readonly<Record<string, string>> | undefined> {
  const { RPC_URL: rpcUrl, STABLECOIN_ADDRESS: stablecoin, CREDIT_TOKEN_ADDRESS: creditToken } = settings;
  const self = journal.fact('owner')?.split(' ')[0] ?? '';
  if (rpcUrl === undefined || stablecoin === undefined || creditToken === undefined || !isAddress(self))
    return undefined;
  try {
    const { client } = await openNode({ ...settings, RPC_URL: rpcUrl }, journal);
    const { ether, stablecoins, credits } = await readAccountBalances(client, { self, stablecoin, creditToken });
    const last = journal.list(['completed']).slice(-SAMPLE);
    const gas = last.map(({ paymentIntentId }) =>
      journal
        .attemptsOf(paymentIntentId)
        .reduce((sum, { mined }) => sum + (mined?.gasUsed ?? 0n) * (mined?.gasPrice ?? 0n), 0n),
    );
    return {
      ether: formatAmount(ether, 18),
      etherReach: reachOf(ether, gas),
      stablecoins: formatStablecoins(stablecoins),
      stablecoinReach: reachOf(
        stablecoins,
        last.map(({ stablecoinAmount }) => stablecoinAmount),
      ),
      credits: formatCredits(credits),
    };
  } catch (error) {
    if (isCallRefused(error))
      return { node: 'STABLECOIN_ADDRESS or CREDIT_TOKEN_ADDRESS names no token on this chain: compare them.' };
    return { node: toUnreachedNode(error).message };
  }
}
