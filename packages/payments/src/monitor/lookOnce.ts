import { formatEther, formatUnits } from 'viem';
import { formatAmount, formatStablecoins } from '../amounts/formatAmount.ts';
import type { Settings } from '../settings/settings.ts';
import type { MonitorTarget } from './createMonitor.ts';
import { readAccount } from './readAccount.ts';

/** Limits, as the monitor warns below them. */
interface Limits {
  /** Wei. */
  readonly warnBelow: bigint;
  /** Stablecoin base units. */
  readonly warnStablecoinsBelow: bigint;
}

/** An account's balance, for people and programs. */
export interface Balance {
  readonly chain: string;
  readonly account: string;
  /** Absent: its node does not answer. */
  readonly balanceEth?: string;
  readonly stablecoins?: string;
  readonly isApproved?: boolean;
  /** Present: which of the tokens' settings is wrong, and why. */
  readonly tokenFault?: string;
  readonly isLow: boolean;
}

const STABLECOIN_DECIMALS = 6;

async function readBalance(
  { warnBelow, warnStablecoinsBelow }: Limits,
  { name: chain, client, tokens, account }: MonitorTarget & { readonly account: MonitorTarget['addresses'][number] },
): Promise<Balance> {
  const reading = await readAccount(client, { address: account, tokens }).catch(() => undefined);
  if (reading === undefined) return { chain, account, isLow: true };
  const { balanceWei, stablecoins, isApproved, tokenFault } = reading;
  return {
    ...{ chain, account, balanceEth: formatEther(balanceWei) },
    ...(stablecoins !== undefined && { stablecoins: formatUnits(stablecoins, STABLECOIN_DECIMALS) }),
    ...(isApproved !== undefined && { isApproved }),
    ...(tokenFault !== undefined && { tokenFault }),
    isLow:
      tokenFault !== undefined ||
      balanceWei < warnBelow ||
      (stablecoins !== undefined && stablecoins < warnStablecoinsBelow),
  };
}

/**
 * Looks at every account once. Nothing is kept, and nobody is alerted.
 *
 * @param limits - below which a balance is low
 * @returns one a chain and account; one that cannot be read counts as low
 */
export async function lookOnce(limits: Limits, targets: readonly MonitorTarget[]): Promise<readonly Balance[]> {
  const all = targets.flatMap((target) => target.addresses.map((account) => ({ ...target, account })));
  return await Promise.all(all.map((one) => readBalance(limits, one)));
}

/** Writes a balance as a line for people. */
export function writeBalance({
  chain,
  account,
  balanceEth,
  stablecoins,
  isApproved,
  tokenFault,
  isLow,
}: Balance): string {
  const parts = [
    balanceEth === undefined ? 'its node does not answer' : `${balanceEth} ETH`,
    ...(stablecoins === undefined ? [] : [`${stablecoins} stablecoins`]),
    ...(tokenFault === undefined ? [] : [tokenFault]),
    ...(isApproved === false ? ['no approval'] : []),
  ];
  return `${isLow ? 'LOW' : 'ok '}  ${account} on ${chain}: ${parts.join(', ')}`;
}

/** In units that people read: a limit in another unit than was meant is seen by that. */
export function writeLimits({
  GAS_WARN_BALANCE_ETH: gas,
  STABLECOIN_WARN_BALANCE: stablecoins,
}: Settings<'gas-monitor'>): string {
  return `Warns below ${formatAmount(gas, 18)} ETH and ${formatStablecoins(stablecoins)} stablecoins.`;
}
