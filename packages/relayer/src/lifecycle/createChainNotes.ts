import type { Sent } from '@prism-gateway/sender';
import { formatEther } from 'viem/utils';
import type { ExceededBudget } from '../budgets/loss.ts';
import type { ClaimResult } from '../gateway/requestGateway.ts';
import type { Metrics } from '../metrics/createMetrics.ts';
import type { Outcome } from './openRequest.ts';

/** Where something failed, as `prism_relayer_faults_total{where}` has it. */
type FaultPlace = 'chain' | 'gateway' | 'claim' | 'report' | 'send' | 'judge' | 'journal' | 'work';

/** Writes one line of JSON; the message says what happened. */
interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** What the work on one chain leaves for those who watch it: counters, gauges, and lines of the log. */
export interface ChainNotes {
  readonly log: Log;
  checked(verdict: string): void;
  claimed(result: ClaimResult): void;
  claimShare(share: number): void;
  inFlight(requests: number): void;
  /** @param counts - of those that are known, by what they wait for */
  requests(counts: ReadonlyMap<string, number>): void;
  /** @param seconds - from the claim on */
  reported(status: Outcome['status'], seconds: number): void;
  mined(sent: Sent, requests: number): void;
  /** @param credits - in base units */
  earned(credits: bigint): void;
  /** @param wei - what a transaction has cost beyond its fees */
  lost(wei: bigint): void;
  /** Tells the operator that a party is left alone. */
  exceeded(exceeded: ExceededBudget): void;
  /** What an account nonce has cost that was freed. @param wei - paid for it */
  spent(wei: bigint): void;
  /** @param wei - the relayer's ether */
  balance(wei: bigint): void;
  fault(where: FaultPlace): void;
}

/**
 * Makes the notes of one chain.
 *
 * @param options.metrics - shared by all chains
 * @param options.chainName - the label of each of them
 */
export function createChainNotes(options: {
  readonly metrics: Metrics;
  readonly chainName: string;
  readonly log: Log;
}): ChainNotes {
  const { metrics, chainName: chain, log } = options;
  return {
    log,
    checked: (verdict) => metrics.checks.inc({ chain, verdict }),
    claimed: (result) => metrics.claims.inc({ chain, result }),
    claimShare: (share) => metrics.claimShare.set({ chain }, share),
    inFlight: (requests) => metrics.inFlight.set({ chain }, requests),
    requests(counts) {
      for (const [reason, count] of counts) metrics.requests.set({ chain, reason }, count);
    },
    reported(status, seconds) {
      metrics.reports.inc({ chain, status });
      metrics.duration.observe({ chain }, seconds);
    },
    mined({ txHash, status, gasUsed, effectiveGasPrice, dataFee }, requests) {
      const kind = requests > 1 ? 'batch' : 'single';
      metrics.transactions.inc({ chain, kind });
      // Counters are floats; the exact amounts are in the journal.
      metrics.gasUsed.inc({ chain }, Number(gasUsed));
      metrics.spentEther.inc({ chain }, Number(formatEther(gasUsed * effectiveGasPrice + dataFee)));
      if (kind === 'batch' && status === 'success') metrics.batchedWrites.inc({ chain }, requests);
      log.info({ txHash, status, kind, requests, gasUsed: Number(gasUsed) }, 'mined');
    },
    earned: (credits) => metrics.earnedCredits.inc({ chain }, Number(formatEther(credits))),
    lost: (wei) => metrics.lostEther.inc({ chain }, Number(formatEther(wei))),
    exceeded({ budget, party, lost, limit, untilMs }) {
      metrics.budgets.inc({ chain, budget });
      const facts = { budget, party, lost: String(lost), limit: String(limit), until: new Date(untilMs).toISOString() };
      log.warn(facts, 'a loss budget is used up; its party is left alone');
    },
    spent: (wei) => metrics.spentEther.inc({ chain }, Number(formatEther(wei))),
    balance: (wei) => metrics.balance.set({ chain }, Number(formatEther(wei))),
    fault: (where) => metrics.faults.inc({ chain, where }),
  };
}
