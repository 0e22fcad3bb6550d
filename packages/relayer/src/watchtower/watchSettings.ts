import { type AlertSettings, alertFaults, alertFields } from '@prism-gateway/alerts';
import {
  type Environment,
  flag,
  keyFaults,
  logLevel,
  parseEnvironment,
  portOrOff,
  wholeNumber,
} from '@prism-gateway/runtime/settings';
import * as z from 'zod/mini';
import {
  chainFields,
  findChainFaults,
  findRepeatedChains,
  listChains,
  namedChainId,
  namedChainsFields,
} from '../settings/chainSettings.ts';

const schema = z.object({
  ...namedChainsFields,
  CONFIRMATIONS: z.optional(chainFields.CONFIRMATIONS),
  LEASE_SECONDS: z._default(wholeNumber(1, 31_536_000), 900),
  POLL_MS: z._default(wholeNumber(10, 600_000), 1000),
  ENFORCE: z._default(flag(), false),
  ADMIN_API_KEY: z.optional(z.string()),
  ...alertFields,
  DATA_DIR: z._default(z.string(), './data/watchtower'),
  METRICS_HOST: z._default(z.string(), '127.0.0.1'),
  METRICS_PORT: z._default(portOrOff(), 9467),
  LOG_LEVEL: z._default(logLevel(), 'info'),
});

/** A chain under watch. */
export interface WatchedChainSettings {
  /** The gateway's name of it. */
  readonly chainName: string;
  /** Nodes of the chain: where there are several, two have to agree before a relayer is accused. */
  readonly rpcUrls: readonly [string, ...string[]];
  /** In lower case. */
  readonly forwarder: `0x${string}`;
  /** Absent: the node's word. */
  readonly chainId: number | undefined;
  /** Block in which the Forwarder's events begin. */
  readonly fromBlock: bigint;
  /** Blocks that settle a transaction, the including one counted; absent: 1 on Anvil's chain id, else 3. */
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
  readonly pollMs: number;
  /** The administrator's key, where lies are to be acted upon. */
  readonly adminKey: string | undefined;
  readonly alerts: AlertSettings;
  readonly dataDir: string;
  readonly metricsHost: string;
  readonly metricsPort: number | 'off';
  readonly logLevel: z.infer<typeof schema>['LOG_LEVEL'];
}

function findFaults(given: Environment): readonly string[] {
  const isUnarmed = given.ENFORCE === 'true' && given.ADMIN_API_KEY === undefined;
  const key = isUnarmed ? ['ADMIN_API_KEY: required with ENFORCE=true'] : [];
  return [...keyFaults(given, 'RELAYER_'), ...findChainFaults(given), ...key, ...alertFaults(given)];
}

function readChains(settings: z.infer<typeof schema>): readonly WatchedChainSettings[] {
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
  const settings = parseEnvironment({ schema, findFaults, findValueFaults: findRepeatedChains }, environment);
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
