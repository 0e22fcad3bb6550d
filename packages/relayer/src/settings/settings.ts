import { join } from 'node:path';
import {
  type Environment,
  keyFaults,
  parseEnvironment,
  type SettingValues,
  splitList,
} from '@prism-gateway/node/settings';
import { type Action, isAction } from '@prism-gateway/protocol';
import type { LossLimits } from '../budgets/createBudgets.ts';
import {
  type ChainSettings,
  findChainFaults,
  findRepeatedChains,
  type GivenChain,
  listChains,
  namedChainId,
} from './chainSettings.ts';
import { relayerSettings } from './relayerSettings.ts';

export { relayerSettings } from './relayerSettings.ts';

/** 10^9 wei in 18-decimal fixed point of gwei: 10^18 / 10^9. */
const FIXED_POINT_PER_WEI = 10n ** 9n;

type Parsed = SettingValues<typeof relayerSettings>;

/** Settings of all chains alike. */
export interface RelayPolicy {
  readonly actions: ReadonlySet<Action>;
  /** By how much a fee must exceed the expected price of its gas, in percent. */
  readonly feeMarginPercent: number;
  /** Most credits that one sponsored creation may cost, in base units: those added, and the gas, less the fee. */
  readonly maxSponsorCredits: bigint;
  /** Limits of losses and gifts on each chain. */
  readonly lossLimits: LossLimits;
  /** Whether contract wallets are served whose code is not on the list. */
  readonly unknownWallets: boolean;
  /** The margin of their fees, in percent. */
  readonly unknownWalletMarginPercent: number;
  readonly pollMinMs: number;
  readonly pollMaxMs: number;
  /** How long a request that would revert is tried again before it is claimed and reported failed. */
  readonly giveUpMs: number;
  /** Age from which a node's newest block is stale, in seconds; 0 = never. */
  readonly maxHeadAgeSeconds: number;
  /** How long the gateway's claims hold; 0 = for ever. */
  readonly leaseMs: number;
}

/** All settings, parsed. */
export interface Settings {
  readonly gatewayUrl: string;
  /** Where the feed alone is read; undefined: where all else is. */
  readonly gatewayFeedUrl?: string | undefined;
  readonly privateKey: string | undefined;
  /** Path of an encrypted keystore, instead of the key. */
  readonly keystore: string | undefined;
  readonly keystorePassword: string | undefined;
  readonly chains: readonly ChainSettings[];
  readonly policy: RelayPolicy;
  readonly dataDir: string;
  /** Folder of the locks on keys: relayers that share it keep off each other's keys. */
  readonly lockDir: string;
  readonly drainMs: number;
  /** When a transaction that no block takes is offered again for more. */
  readonly bumpAfterMs: number;
  readonly metricsHost: string;
  readonly metricsPort: number | 'off';
  /** Called twice a minute while the relayer is well. */
  readonly heartbeatUrl: string | undefined;
  readonly logLevel: Parsed['LOG_LEVEL'];
}

const rateFault = 'CREDITS_PER_ETH: required: how many credits one ether is worth to this relayer';

function findFaults(given: Environment): readonly string[] {
  const isUnrated = given.RELAYER_CHAINS === undefined && given.CREDITS_PER_ETH === undefined;
  return [...keyFaults(given, 'RELAYER_'), ...findChainFaults(given), ...(isUnrated ? [rateFault] : [])];
}

/** Faults between values that can be read. */
function findValueFaults(settings: Parsed): readonly string[] {
  const faults = [...findRepeatedChains(settings)];
  const isUnrated = (chain: GivenChain) => (chain.creditsPerEth ?? settings.CREDITS_PER_ETH) === undefined;
  if (settings.RELAYER_CHAINS?.some(isUnrated)) faults.push(rateFault);
  if (settings.POLL_MIN_MS > settings.POLL_MAX_MS) faults.push('POLL_MIN_MS: expected at most POLL_MAX_MS');
  return faults;
}

function readChain(chain: GivenChain, settings: Parsed): ChainSettings {
  return {
    chainName: chain.chainName,
    // There is at least one.
    rpcUrls: chain.rpcUrl as [string, ...string[]],
    forwarder: chain.forwarder,
    chainId: chain.chainId ?? namedChainId(chain.chainName),
    fromBlock: BigInt(chain.fromBlock),
    creditsPerEth: chain.creditsPerEth ?? settings.CREDITS_PER_ETH ?? 0n,
    maxFeePerGas: (chain.maxFeeGwei ?? settings.MAX_FEE_GWEI) / FIXED_POINT_PER_WEI,
    maxInFlight: chain.maxInFlight ?? settings.MAX_IN_FLIGHT,
    maxBatchSize: chain.maxBatchSize ?? settings.MAX_BATCH_SIZE,
    confirmations: chain.confirmations ?? settings.CONFIRMATIONS,
  };
}

function readPolicy(settings: Parsed): RelayPolicy {
  return {
    actions: new Set(splitList(settings.ACTIONS).filter(isAction)),
    feeMarginPercent: settings.FEE_MARGIN_PERCENT,
    maxSponsorCredits: settings.MAX_SPONSOR_CREDITS,
    lossLimits: {
      requestWei: settings.LOSS_BUDGET_REQUEST,
      signerWei: settings.LOSS_BUDGET_SIGNER,
      codeWei: settings.LOSS_BUDGET_CODE,
      hourWei: settings.LOSS_BUDGET_HOUR,
      dayWei: settings.LOSS_BUDGET_DAY,
      signerGifts: settings.SPONSOR_BUDGET_SIGNER ?? settings.MAX_SPONSOR_CREDITS,
      dayGifts: settings.SPONSOR_BUDGET_DAY ?? 100n * settings.MAX_SPONSOR_CREDITS,
    },
    unknownWallets: settings.UNKNOWN_WALLETS,
    unknownWalletMarginPercent: settings.UNKNOWN_WALLET_MARGIN_PERCENT,
    pollMinMs: settings.POLL_MIN_MS,
    pollMaxMs: settings.POLL_MAX_MS,
    giveUpMs: settings.GIVE_UP_SECONDS * 1000,
    maxHeadAgeSeconds: settings.MAX_HEAD_AGE_SECONDS,
    leaseMs: settings.CLAIM_LEASE_SECONDS * 1000,
  };
}

/**
 * Parses all settings, once, at start. An empty value counts as unset.
 *
 * @throws SettingsError `SETTINGS_INVALID`: names every fault and repeats no value
 */
export function parseSettings(environment: Environment): Settings {
  const settings = parseEnvironment({ settings: relayerSettings, findFaults, findValueFaults }, environment);
  return {
    gatewayUrl: settings.GATEWAY_URL,
    gatewayFeedUrl: settings.GATEWAY_FEED_URL,
    privateKey: settings.RELAYER_PRIVATE_KEY,
    keystore: settings.RELAYER_KEYSTORE,
    keystorePassword: settings.RELAYER_KEYSTORE_PASSWORD,
    chains: listChains(settings).map((chain) => readChain(chain, settings)),
    policy: readPolicy(settings),
    dataDir: settings.DATA_DIR,
    lockDir: settings.LOCK_DIR ?? settings.DATA_DIR,
    drainMs: settings.DRAIN_SECONDS * 1000,
    bumpAfterMs: settings.BUMP_AFTER_SECONDS * 1000,
    metricsHost: settings.METRICS_HOST,
    metricsPort: settings.METRICS_PORT,
    heartbeatUrl: settings.HEARTBEAT_URL,
    logLevel: settings.LOG_LEVEL,
  };
}

/**
 * Names the file of a journal: one for a relayer's key on one chain.
 *
 * @param where.address - the relayer's
 */
export function journalPath(where: {
  readonly dataDir: string;
  readonly kind: 'relayer' | 'sender';
  readonly address: string;
  readonly chainId: number;
}): string {
  const { dataDir, kind, address, chainId } = where;
  return join(dataDir, `${kind}-${chainId}-${address.toLowerCase()}.db`);
}
