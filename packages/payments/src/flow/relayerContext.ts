import type { Sender } from '@prism-gateway/sender';
import type { Address, PublicClient } from 'viem';
import type { Alerter } from '../alerts/createAlerter.ts';
import type { MarkSearch } from '../chain/createMarkSearch.ts';
import type { PayoutFence } from '../chain/createPayoutFence.ts';
import type { FrontendClient } from '../frontend/createFrontendClient.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Logger } from '../logger.ts';

/** Numbers and addresses that the flow goes by. */
export interface RelayerConfig {
  readonly exchange: Address;
  readonly creditToken: Address;
  readonly stablecoin: Address;
  /** This instance's address. */
  readonly self: Address;
  /** Addresses of the other instances. */
  readonly others: readonly Address[];
  readonly pollIntervalMs: number;
  /** Wei. */
  readonly maxGasPrice: bigint;
  readonly maxRetries: number;
  readonly retryDelayMs: number;
  readonly slippageBps: number;
  /** Stablecoin base units. */
  readonly maxPayment: bigint;
  /** Stablecoin base units. */
  readonly dailyLimit: bigint;
  readonly maxInFlight: number;
  readonly takeoverWaitMs: number;
  readonly rpcPollIntervalMs: number;
}

/** All that a step of a payment works with. */
export interface RelayerContext {
  readonly config: RelayerConfig;
  readonly journal: PaymentJournal;
  readonly sender: Sender;
  readonly client: PublicClient;
  readonly search: MarkSearch;
  readonly fence: PayoutFence;
  /** Blocks that may be replaced. */
  readonly reorgDepth: number;
  readonly frontend: FrontendClient;
  readonly alerter: Alerter;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
  /** Runs funding decisions one at a time. */
  readonly decide: <Result>(decision: () => Promise<Result>) => Promise<Result>;
  /** Credit base units bought for a payment since it was claimed; what a restart forgets is in hand all the same. */
  readonly bought: Map<string, bigint>;
}
