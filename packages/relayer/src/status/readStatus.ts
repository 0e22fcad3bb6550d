import { formatEther } from 'viem/utils';
import type {
  Counts,
  ForeignTransactions,
  HeldRequest,
  JournalView,
  OutlierNode,
  WrittenExceeded,
  WrittenVerdict,
} from '../journal/createJournalView.ts';

const HOUR_MS = 3_600_000;
/** Most requests that a status lists one by one. */
const MAX_LISTED = 50;

/** A relayer's claims, evaluations, costs and earnings on one chain; JSON as it stands. */
export interface ChainStatus {
  readonly held: { readonly total: number; readonly byState: Counts; readonly requests: readonly HeldRequest[] };
  readonly evaluated: { readonly total: number; readonly byVerdict: Counts };
  /** The newest ones that wait for something. */
  readonly waiting: readonly WrittenVerdict[];
  readonly transactions: string;
  /** In ether. */
  readonly spentEther: string;
  /** Whole credits, this relayer's share. */
  readonly earnedCredits: string;
  /** Transactions of the relayer's own address that it has not made. */
  readonly foreignTransactions: ForeignTransactions;
  /** Nodes that were alone with what they said, in the last week. */
  readonly outlierNodes: readonly OutlierNode[];
  /** Costs of transactions beyond their fees, in ether, and whom the relayer therefore leaves alone. */
  readonly losses: {
    readonly lastHourEther: string;
    readonly lastDayEther: string;
    readonly exceeded: readonly WrittenExceeded[];
  };
}

const sum = (counts: Counts) => Object.values(counts).reduce((total, count) => total + count, 0);

/**
 * Reads the status of one chain.
 *
 * @param nowMs - Unix time in milliseconds
 */
export function readStatus(view: JournalView, nowMs: number): ChainStatus {
  const [byState, byVerdict, totals] = [view.countHeld(), view.countVerdicts(), view.totals()];
  return {
    held: { total: sum(byState), byState, requests: view.held(MAX_LISTED) },
    evaluated: { total: sum(byVerdict), byVerdict },
    waiting: view.waiting(MAX_LISTED),
    transactions: String(totals.transactions),
    spentEther: formatEther(totals.spentWei),
    earnedCredits: formatEther(totals.earnedCredits),
    foreignTransactions: view.foreign(),
    outlierNodes: view.outliers(),
    losses: {
      lastHourEther: formatEther(view.lostSince(nowMs - HOUR_MS)),
      lastDayEther: formatEther(view.lostSince(nowMs - 24 * HOUR_MS)),
      exceeded: view.exceeded(nowMs),
    },
  };
}
