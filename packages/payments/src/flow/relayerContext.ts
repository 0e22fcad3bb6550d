import type { Alerter } from '@prism-gateway/alerts';
import type { Logger } from '@prism-gateway/runtime/logs';
import type { Sender } from '@prism-gateway/sender';
import type { PublicClient } from 'viem';
import type { KeyWatch } from '../chain/createKeyWatch.ts';
import type { MarkSearch } from '../chain/createMarkSearch.ts';
import type { PayoutFence } from '../chain/createPayoutFence.ts';
import type { UnknownPayouts } from '../chain/createUnknownPayouts.ts';
import type { FrontendClient } from '../frontend/createFrontendClient.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { DayLimit } from '../limits/createDayLimit.ts';
import type { Exchange } from '../readiness/createExchange.ts';
import type { Readiness } from '../readiness/createReadiness.ts';
import type { RelayerConfig } from '../relayerConfig.ts';

/** What an instance remembers from its start to its end, and can do without after a restart. */
export interface RelayerMemory {
  /** Credit base units bought for a payment since it was claimed; what a restart forgets is in hand all the same. */
  readonly bought: Map<string, bigint>;
  /** Payments of which people know that they were given back, until a payout is journalled: each is claimed again and again. */
  readonly givenBackTold: Set<string>;
  /** What a payout may use, learnt from the last one, so that it needs no estimation; undefined after one that failed. */
  payoutGasLimit: bigint | undefined;
}

/**
 * Creates the memory of a start.
 *
 * @returns a memory of nothing
 */
export function createMemory(): RelayerMemory {
  return {
    bought: new Map(),
    givenBackTold: new Set(),
    payoutGasLimit: undefined,
  };
}

/** All that a step of a payment works with. */
export interface RelayerContext {
  readonly config: RelayerConfig;
  readonly journal: PaymentJournal;
  readonly sender: Sender;
  readonly client: PublicClient;
  readonly search: MarkSearch;
  readonly fence: PayoutFence;
  readonly watch: KeyWatch;
  /** Finds out what the key has done, where the journal does not know; at once where it does. */
  readonly settle: () => Promise<void>;
  /** Blocks that may be replaced. */
  readonly reorgDepth: number;
  readonly frontend: FrontendClient;
  readonly alerter: Alerter;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicNow: () => number;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
  /** Runs funding decisions one at a time. */
  readonly decide: <Result>(decision: () => Promise<Result>) => Promise<Result>;
  readonly exchange: Exchange;
  readonly readiness: Readiness;
  readonly dayLimit: DayLimit;
  readonly unknownPayouts: UnknownPayouts;
  readonly memory: RelayerMemory;
}
