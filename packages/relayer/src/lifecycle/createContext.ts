import type { Account } from '@prism-gateway/node/accounts';
import { isJournalFault } from '@prism-gateway/node/alerts';
import type { Logger } from '@prism-gateway/node/logs';
import type { Tracer } from '@prism-gateway/node/tracing';
import type { RelayerClient } from '@prism-gateway/sdk';
import { createBudgets } from '../budgets/createBudgets.ts';
import type { Health } from '../events/createHealth.ts';
import type { Metrics } from '../events/createMetrics.ts';
import type { Events } from '../events/events.ts';
import { createQueue } from '../gateway/createFeedQueue.ts';
import { createQueueCalls, createRequestGateway } from '../gateway/createRequestGateway.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { Settings } from '../settings/settings.ts';
import { advanceRequests } from './advanceRequests.ts';
import { createCandidates } from './candidates.ts';
import type { ChainPolicy, RelayerChain, RelayerContext } from './context.ts';
import { createInFlight } from './inFlight.ts';

/** How old a price of gas may be for what has waited for it, in milliseconds. */
const PRICE_MS = 15_000;

/** The options of a chain. */
export interface ChainOptions {
  readonly settings: Settings;
  readonly chain: ChainSettings;
  readonly account: Account;
  readonly client: RelayerClient;
  /** Called when the gateway answers again that did not answer. */
  readonly gatewayReturns: Set<() => void>;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly logger: Logger;
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicNow: () => number;
  readonly random: () => number;
  readonly wake: () => void;
  readonly signal: AbortSignal;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

/** Makes the context of one chain: what it is worked on with, and at first nothing under way. */
export function createContext(
  options: ChainOptions,
  opened: {
    readonly chain: RelayerChain;
    readonly journal: Journal;
    readonly policy: ChainPolicy;
    readonly events: Events;
  },
): RelayerContext {
  const { client, gatewayReturns, now, monotonicNow, random, wake, signal, tracer } = options;
  const { chain, journal, policy, events } = opened;
  const { chainName } = policy;
  const budgets = createBudgets({
    ...{ journal, limits: policy.lossLimits, now },
    onExceeded: (exceeded) => events.emit({ type: 'budget-exceeded', ...exceeded }),
  });
  const inFlight = createInFlight({
    budgets,
    onFault(err) {
      if (!isJournalFault(err)) return events.emit({ type: 'work-failed', where: 'work', err });
      events.emit({ type: 'journal-failed', where: 'journal', reason: err.message });
    },
  });
  const candidates = createCandidates({
    ...{ journal, giveUpMs: policy.giveUpMs },
    nextBlockInMs: chain.state.nextBlockInMs,
  });
  const calls = createQueueCalls({ client, chainName, signal });
  const gateway = createRequestGateway({ client, calls, chainName, events, monotonicNow, signal });
  const clock = { now, monotonicNow, random, wake, signal };
  // A request that waits for cheaper gas waits a little longer.
  const gasPrice = async () => (await chain.state.head(PRICE_MS)).gasPrice;
  const known = { gateway, candidates, journal, inFlight, events };
  const queue = createQueue({ ...known, ...clock, calls, gatewayReturns, gasPrice });
  const context: RelayerContext = {
    ...opened,
    ...clock,
    gateway: { ...gateway, queue, candidates },
    inFlight,
    advance: (requestIds) => advanceRequests(context, { requestIds, tracer }),
  };
  return context;
}

/** Restores the stakes of requests that were under way before a restart. */
async function resumeStakes({ chain, inFlight }: RelayerContext, open: ReturnType<Journal['open']>): Promise<void> {
  // Without a price nothing is claimed either.
  const { gasPrice } = await chain.state.head().catch(() => ({ gasPrice: 0n }));
  for (const { requestId, signatures, gas = 0n } of open) {
    inFlight.budgets.resume({ requestId, signatures }, { wei: gas * gasPrice, gift: 0n });
  }
}

/** Goes on with everything that the journal holds open: after a start, before anything new is claimed. */
export function resumeRequests(context: RelayerContext): void {
  const { journal, inFlight, events, advance } = context;
  const open = journal.open();
  if (open.length > 0) events.emit({ type: 'claims-resumed', open: open.length });
  for (const request of open) inFlight.take(request);
  inFlight.run(resumeStakes(context, open));
  advance(open.map(({ requestId }) => requestId));
}
