import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { formatEther } from 'viem/utils';
import { type Listener, listenBy } from './events.ts';

/** The relayer's counters; each has the label `chain`. */
export type Metrics = ReturnType<typeof createCounters>;

/** Makes series that an alarm may watch before their event has happened. */
function startAtZero(metrics: Metrics, chain: string): void {
  for (const result of ['won', 'conflict', 'refused', 'unknown']) metrics.claims.inc({ chain, result }, 0);
  for (const status of ['success', 'failed']) metrics.reports.inc({ chain, status }, 0);
  for (const kind of ['single', 'batch']) metrics.transactions.inc({ chain, kind }, 0);
  for (const where of ['chain', 'gateway', 'claim', 'report', 'send', 'evaluation', 'journal', 'work'])
    metrics.faults.inc({ chain, where }, 0);
  for (const budget of ['request', 'signer', 'code', 'hour', 'day', 'signerGifts', 'dayGifts'])
    metrics.budgets.inc({ chain, budget }, 0);
  for (const sum of ['batchedWrites', 'gasUsed', 'spentEther', 'earnedCredits', 'lostEther', 'foreign'] as const)
    metrics[sum].inc({ chain }, 0);
  metrics.inFlight.set({ chain }, 0);
  metrics.payable.set({ chain }, 0);
  metrics.duration.zero({ chain });
}

function createCounters() {
  const registry = new Registry();
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter<L>({ name: `prism_relayer_${name}_total`, help, labelNames: [...labelNames], registers: [registry] });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name: `prism_relayer_${name}`, help, labelNames: [...labelNames], registers: [registry] });
  return {
    registry,
    claims: counter('claims', 'Claims that were asked for, by result', ['chain', 'result']),
    reports: counter('reports', 'Outcomes that were reported, by status', ['chain', 'status']),
    checks: counter('checks', 'Requests that were checked, by verdict', ['chain', 'verdict']),
    transactions: counter('transactions', 'Transactions that were mined, by kind', ['chain', 'kind']),
    batchedWrites: counter('batched_writes', 'Writes that were mined in a batch of many users', ['chain']),
    gasUsed: counter('gas_used', 'Gas that was used', ['chain']),
    spentEther: counter('spent_ether', 'Ether that was paid for gas', ['chain']),
    earnedCredits: counter('earned_credits', 'Credits that were earned as fees', ['chain']),
    lostEther: counter('lost_ether', 'Ether that transactions have cost beyond their fees', ['chain']),
    budgets: counter('budgets_exceeded', 'Loss budgets that were used up, by budget', ['chain', 'budget']),
    foreign: counter('foreign_transactions', 'Transactions of the own key that the journal does not know', ['chain']),
    outliers: counter('outlier_nodes', 'Answers with which a node was alone, by its place in RPC_URL', [
      'chain',
      'node',
    ]),
    faults: counter('faults', 'Calls and work that failed, by place', ['chain', 'where']),
    inFlight: gauge('in_flight', 'Requests that are claimed and not yet reported', ['chain']),
    requests: gauge('requests', 'Requests that are known and not done with, by what they wait for', [
      'chain',
      'reason',
    ]),
    payable: gauge(
      'oldest_payable_seconds',
      'Age of the oldest request that this relayer carries out, 0 when there is none',
      ['chain'],
    ),
    balance: gauge('balance_ether', 'Ether of the relayer', ['chain']),
    claimShare: gauge('claim_share', "Share of the page's head that is claimed at once", ['chain']),
    duration: new Histogram({
      name: 'prism_relayer_request_seconds',
      help: 'From the claim to the report',
      labelNames: ['chain'] as const,
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
      registers: [registry],
    }),
  };
}

/**
 * Makes the relayer's metrics.
 *
 * @param chains - the gateway's names of them; what has not happened yet stands there with 0
 * @see https://prometheus.io/docs/practices/naming/
 */
export function createMetrics(chains: readonly string[]): Metrics {
  const metrics = createCounters();
  for (const chain of chains) startAtZero(metrics, chain);
  return metrics;
}

/** Counts what happens on one chain. Counters are floats; the exact amounts are in the journal. @param chain - the gateway's name of it */
export function countEvents(metrics: Metrics, chain: string): Listener {
  const ether = (wei: bigint) => Number(formatEther(wei));
  const count = listenBy({
    'request-evaluated': ({ verdict }) =>
      metrics.checks.inc({ chain, verdict: verdict.kind === 'leave' ? verdict.reason : verdict.kind }),
    'claim-answered': ({ result }) => metrics.claims.inc({ chain, result }),
    'request-reported'({ outcome: { status }, seconds }) {
      metrics.reports.inc({ chain, status });
      metrics.duration.observe({ chain }, seconds);
    },
    'transaction-mined'({ sent: { status, gasUsed, effectiveGasPrice, dataFee }, requests, earnedCredits }) {
      const kind = requests > 1 ? 'batch' : 'single';
      metrics.transactions.inc({ chain, kind });
      metrics.gasUsed.inc({ chain }, Number(gasUsed));
      metrics.spentEther.inc({ chain }, ether(gasUsed * effectiveGasPrice + dataFee));
      if (kind === 'batch' && status === 'success') metrics.batchedWrites.inc({ chain }, requests);
      metrics.earnedCredits.inc({ chain }, ether(earnedCredits));
    },
    'cancel-paid': ({ wei }) => metrics.spentEther.inc({ chain }, ether(wei)),
    loss: ({ wei }) => metrics.lostEther.inc({ chain }, ether(wei)),
    'budget-exceeded': ({ budget }) => metrics.budgets.inc({ chain, budget }),
    'balance-read': ({ wei }) => metrics.balance.set({ chain }, ether(wei)),
    'claim-share-changed': ({ share }) => metrics.claimShare.set({ chain }, share),
    'in-flight-changed': ({ requests }) => metrics.inFlight.set({ chain }, requests),
    'payable-waited': ({ seconds }) => metrics.payable.set({ chain }, seconds),
    'requests-counted'({ counts }) {
      for (const [reason, requests] of counts) metrics.requests.set({ chain, reason }, requests);
    },
    'key-used-elsewhere': ({ transactions }) => metrics.foreign.inc({ chain }, transactions),
  });
  return function countEvent(event) {
    if ('where' in event) metrics.faults.inc({ chain, where: event.where });
    count(event);
  };
}
