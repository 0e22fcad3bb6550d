import { type AlertSettings, alertFaults, alertSettings } from '@prism-gateway/node/alerts';
import {
  type Environment,
  flag,
  keyFaults,
  logLevel,
  parseEnvironment,
  portOrOff,
  type SettingValues,
  setting,
  wholeNumber,
} from '@prism-gateway/node/settings';
import * as z from 'zod/mini';
import { DEV_CHAIN_ID } from '../chain/chooseConfirmations.ts';
import {
  chainFields,
  findChainFaults,
  findRepeatedChains,
  listChains,
  namedChainId,
  namedChains,
} from '../settings/chainSettings.ts';

/** The watchtower's settings: the one place of their forms, defaults and meanings. */
export const watchtowerSettings = {
  ...namedChains,
  CONFIRMATIONS: setting(chainFields.CONFIRMATIONS, 'blocks that finalize a transaction, as the relayers have it', {
    unset: '3 (1 on chain 31337)',
  }),
  LEASE_SECONDS: setting(
    wholeNumber(1, 31_536_000),
    'how long a claim may be held, as CLAIM_LEASE_SECONDS of the gateway',
    {
      initial: '900',
    },
  ),
  POLL_MS: setting(wholeNumber(10, 600_000), 'pause between two looks while a request is open', {
    unset: 'half a block, 1 to 6 s',
  }),
  ENFORCE: setting(
    flag(),
    'true: suspends a relayer that lies, releases what it holds, posts again what was falsely reported as done, and reopens what was falsely failed; it needs two nodes',
    { initial: 'false', heading: 'What it does about lies' },
  ),
  ADMIN_API_KEY: setting(z.string(), "the gateway's, with ENFORCE=true", { isSecret: true }),
  ...alertSettings,
  DATA_DIR: setting(z.string(), 'folder of its journals', { initial: './data/watchtower', heading: 'How it runs' }),
  METRICS_PORT: setting(portOrOff(), '/metrics (Prometheus), /health; 0 = any free port, or off', { initial: '9467' }),
  METRICS_HOST: setting(z.string(), 'another address only in a network of your own', { initial: '127.0.0.1' }),
  LOG_LEVEL: setting(logLevel(), 'debug, info, warn, error or silent', { initial: 'info' }),
} as const;

type Parsed = SettingValues<typeof watchtowerSettings>;

/** A chain under watch. */
export interface WatchedChainSettings {
  /** The gateway's name of it. */
  readonly chainName: string;
  /** Nodes of the chain: if there are several, two have to agree before a relayer is accused. */
  readonly rpcUrls: readonly [string, ...string[]];
  /** In lower case. */
  readonly forwarder: `0x${string}`;
  /** Absent: the node's word. */
  readonly chainId: number | undefined;
  /** Block in which the Forwarder's events begin. */
  readonly fromBlock: bigint;
  /** Blocks that finalize a transaction, the including one counted; absent: 1 on Anvil's chain id, else 3. */
  readonly confirmations: number | undefined;
}

/** All settings of the watchtower, parsed. */
export interface WatchSettings {
  readonly gatewayUrl: string;
  readonly privateKey: string | undefined;
  readonly keystore: string | undefined;
  readonly keystorePassword: string | undefined;
  readonly chains: readonly WatchedChainSettings[];
  /** How long the gateway lets a claim stand. */
  readonly leaseSeconds: bigint;
  /** Pause between two looks while something is open, in milliseconds; absent: half a block, from 1 to 6 s. */
  readonly pollMs: number | undefined;
  /** The administrator's key, if lies are to be acted upon. */
  readonly adminKey: string | undefined;
  readonly alerts: AlertSettings;
  readonly dataDir: string;
  readonly metricsHost: string;
  readonly metricsPort: number | 'off';
  readonly logLevel: Parsed['LOG_LEVEL'];
}

/** One node alone can have an honest relayer suspended, by hiding what it has done. A development chain has but one. */
function findLoneNodes(settings: Parsed): readonly string[] {
  if (!settings.ENFORCE) return [];
  return listChains(settings).flatMap(({ chainName, chainId = namedChainId(chainName), rpcUrl }) =>
    chainId === DEV_CHAIN_ID || new Set(rpcUrl).size > 1
      ? []
      : [
          `RPC_URL: expected two nodes of ${chainName} with ENFORCE=true, as one alone could have an honest relayer suspended`,
        ],
  );
}

function findFaults(given: Environment): readonly string[] {
  const isUnarmed = given.ENFORCE === 'true' && given.ADMIN_API_KEY === undefined;
  const key = isUnarmed ? ['ADMIN_API_KEY: required with ENFORCE=true'] : [];
  return [...keyFaults(given, 'RELAYER_'), ...findChainFaults(given), ...key, ...alertFaults(given)];
}

const findValueFaults = (settings: Parsed) => [...findRepeatedChains(settings), ...findLoneNodes(settings)];

function readChains(settings: Parsed): readonly WatchedChainSettings[] {
  return listChains(settings).map((chain) => ({
    chainName: chain.chainName,
    // The schema takes no empty list.
    rpcUrls: chain.rpcUrl as [string, ...string[]],
    forwarder: chain.forwarder,
    chainId: chain.chainId ?? namedChainId(chain.chainName),
    fromBlock: BigInt(chain.fromBlock),
    confirmations: chain.confirmations ?? settings.CONFIRMATIONS,
  }));
}

/**
 * Parses all settings of the watchtower, once, at start. An empty value counts as unset.
 *
 * @throws SettingsError `SETTINGS_INVALID`: names every fault and repeats no value
 */
export function parseWatchSettings(environment: Environment): WatchSettings {
  const settings = parseEnvironment({ settings: watchtowerSettings, findFaults, findValueFaults }, environment);
  return {
    gatewayUrl: settings.GATEWAY_URL,
    privateKey: settings.RELAYER_PRIVATE_KEY,
    keystore: settings.RELAYER_KEYSTORE,
    keystorePassword: settings.RELAYER_KEYSTORE_PASSWORD,
    chains: readChains(settings),
    leaseSeconds: BigInt(settings.LEASE_SECONDS),
    pollMs: settings.POLL_MS,
    adminKey: settings.ENFORCE ? settings.ADMIN_API_KEY : undefined,
    alerts: settings,
    dataDir: settings.DATA_DIR,
    metricsHost: settings.METRICS_HOST,
    metricsPort: settings.METRICS_PORT,
    logLevel: settings.LOG_LEVEL,
  };
}
