import type { Alerter } from '@prism-gateway/node/alerts';
import type { Logger } from '@prism-gateway/node/logs';
import type { Sender } from '@prism-gateway/sender';
import type { Hex, PublicClient } from 'viem';
import type { BroadcastGuard } from '../chain/createBroadcastGuard.ts';
import type { KeyWatch } from '../chain/createKeyWatch.ts';
import type { TransferSearch } from '../chain/createTransferSearch.ts';
import type { FrontendClient } from '../frontend/createFrontendClient.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { AttemptKind } from '../journal/payment.ts';
import type { DayLimit } from '../limits/createDayLimit.ts';
import type { PayerConfig } from '../payerConfig.ts';
import type { Exchange } from '../readiness/createExchange.ts';
import type { Readiness } from '../readiness/createReadiness.ts';

/** An instance's memory from start to end, not needed after a restart. */
export interface PayerMemory {
  /** Credit base units bought for a payment since it was claimed; what a restart forgets is in hand all the same. */
  readonly bought: Map<string, bigint>;
  /** Gas limits learnt from the last call of each kind, so that the next needs no estimation; none after one that failed. */
  readonly gasLimits: Map<AttemptKind, bigint>;
}

/** Creates the memory of a start. */
export function createMemory(): PayerMemory {
  return {
    bought: new Map(),
    gasLimits: new Map(),
  };
}

/** All that a step of a payment works with. */
export interface PayerContext {
  readonly config: PayerConfig;
  readonly journal: PaymentJournal;
  readonly sender: Sender;
  readonly client: PublicClient;
  readonly search: TransferSearch;
  readonly guard: BroadcastGuard;
  readonly watch: KeyWatch;
  /** Finds out what the key has done, if the journal does not know; at once if it does. */
  readonly resolveKey: () => Promise<void>;
  /** The frontend's id in the contract `Payouts`. @throws StepError `CONTRACTS_WRONG` if it lets this address not pay; viem's errors */
  readonly readFrontend: () => Promise<Hex>;
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
  readonly memory: PayerMemory;
}
