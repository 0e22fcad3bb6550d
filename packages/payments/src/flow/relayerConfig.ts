import type { Address } from 'viem';

/** Numbers and addresses that the flow goes by. */
export interface RelayerConfig {
  readonly exchange: Address;
  readonly creditToken: Address;
  readonly stablecoin: Address;
  /** The contract through which payouts go; absent: they are plain transfers. */
  readonly payouts: Address | undefined;
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
  /** Credit base units. */
  readonly dailyCreditLimit: bigint;
  /** Credits for one stablecoin, as expected. */
  readonly expectedRate: bigint;
  /** How far the Exchange's rate may be from it, in basis points. */
  readonly maxRateDeviationBps: number;
  readonly maxInFlight: number;
  readonly takeoverWaitMs: number;
  readonly rpcPollIntervalMs: number;
  /** A payment older than this is told of. */
  readonly lateAfterMs: number;
}
