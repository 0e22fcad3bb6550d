import { Counter, Gauge, Registry } from 'prom-client';
import type { AccountReading } from './readAccount.ts';

/** The gas monitor's counters. */
export interface MonitorMetrics {
  readonly registry: Registry;
  /** One account as it was just read. */
  read(labels: { readonly chain: string; readonly account: string }, reading: AccountReading): void;
  /** One look at the accounts of a chain. */
  looked(labels: { readonly chain: string; readonly result: 'answered' | 'silent' }): void;
}

/**
 * Makes the gas monitor's metrics.
 *
 * @param options.chains - names of the chains that are looked at
 * @param options.warnBelow - wei
 * @param options.warnStablecoinsBelow - base units (6 decimals)
 * @see https://prometheus.io/docs/practices/naming/
 */
export function createMonitorMetrics(options: {
  readonly chains: readonly string[];
  readonly warnBelow: bigint;
  readonly warnStablecoinsBelow: bigint;
}): MonitorMetrics {
  const registry = new Registry();
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name: `gas_monitor_${name}`, help, labelNames: [...labelNames], registers: [registry] });
  const account = ['chain', 'account'] as const;
  const ether = gauge('balance_ether', 'Ether of an account.', account);
  const stablecoins = gauge('balance_stablecoins', 'Stablecoins of an account.', account);
  const approved = gauge('approved', '1 if the account has approved the Exchange.', account);
  // Floats: a limit and a balance are compared by eye here, and exactly in the monitor itself.
  gauge('warn_balance_ether', 'Below this, the monitor warns.', []).set(Number(options.warnBelow) / 1e18);
  gauge('warn_balance_stablecoins', 'Below this, the monitor warns.', []).set(
    Number(options.warnStablecoinsBelow) / 1e6,
  );
  const looks = new Counter({
    name: 'gas_monitor_looks_total',
    help: 'Looks at the accounts of a chain, by whether its node answered.',
    labelNames: ['chain', 'result'] as const,
    registers: [registry],
  });
  for (const chain of options.chains) for (const result of ['answered', 'silent']) looks.inc({ chain, result }, 0);
  return {
    registry,
    read(labels, { balanceWei, stablecoins: amount, isApproved }) {
      ether.set(labels, Number(balanceWei) / 1e18);
      if (amount !== undefined) stablecoins.set(labels, Number(amount) / 1e6);
      if (isApproved !== undefined) approved.set(labels, Number(isApproved));
    },
    looked: (labels) => looks.inc(labels),
  };
}
