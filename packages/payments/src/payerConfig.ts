import { type Address, type Hex, keccak256, stringToBytes } from 'viem';
import { computeCreditsOwed } from './amounts/computeCredits.ts';
import type { Settings } from './settings/settings.ts';

/** Numbers and addresses that the flow goes by. */
export interface PayerConfig {
  readonly exchange: Address;
  readonly creditToken: Address;
  readonly stablecoin: Address;
  /** The contract through which payouts go; absent: they are plain transfers, of one instance alone. */
  readonly payouts: Address | undefined;
  /** The frontend's id, as the contract `Payouts` must have it; absent: whatever it has. */
  readonly frontendId: Hex | undefined;
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
  /** Where a search of the chain for payouts begins. */
  readonly searchFromBlock: number;
  readonly rpcPollIntervalMs: number;
  /** A payment older than this is an alert. */
  readonly lateAfterMs: number;
}

/** Computes the id by which the contract `Payouts` knows a frontend. */
export const hashFrontendId = (name: string): Hex => keccak256(stringToBytes(name));

/** All that the daily limit can buy at the best rate that is allowed. */
function mostCreditsFor(settings: Settings<'payments'>): bigint {
  const { DAILY_LIMIT: limit, EXCHANGE_RATE: rate, MAX_RATE_DEVIATION_BPS: deviation } = settings;
  return (computeCreditsOwed(limit, BigInt(rate)) * BigInt(10_000 + deviation)) / 10_000n;
}

/** Makes the flow's numbers and addresses of the settings. */
export function readConfig(parts: { readonly settings: Settings<'payments'>; readonly self: Address }): PayerConfig {
  const { settings, self } = parts;
  return {
    exchange: settings.EXCHANGE_ADDRESS,
    creditToken: settings.CREDIT_TOKEN_ADDRESS,
    stablecoin: settings.STABLECOIN_ADDRESS,
    payouts: settings.PAYOUTS_ADDRESS,
    frontendId: settings.FRONTEND_ID === undefined ? undefined : hashFrontendId(settings.FRONTEND_ID),
    self,
    others: settings.RELAYER_ADDRESSES.filter((address) => address !== self),
    pollIntervalMs: settings.POLL_INTERVAL_MS,
    maxGasPrice: settings.MAX_FEE_GWEI,
    maxRetries: settings.MAX_RETRIES,
    retryDelayMs: settings.RETRY_DELAY_MS,
    slippageBps: settings.SLIPPAGE_BPS,
    maxPayment: settings.MAX_PAYMENT,
    dailyLimit: settings.DAILY_LIMIT,
    dailyCreditLimit: settings.DAILY_CREDIT_LIMIT ?? mostCreditsFor(settings),
    expectedRate: BigInt(settings.EXCHANGE_RATE),
    maxRateDeviationBps: settings.MAX_RATE_DEVIATION_BPS,
    maxInFlight: settings.MAX_IN_FLIGHT,
    searchFromBlock: settings.SEARCH_FROM_BLOCK,
    rpcPollIntervalMs: settings.RPC_POLL_INTERVAL_MS,
    lateAfterMs: settings.LATE_AFTER_MINUTES * 60_000,
  };
}
