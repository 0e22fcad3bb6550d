import { join } from 'node:path';
import { ACTIONS, type Action, isAction } from '@prism-gateway/protocol';
import * as z from 'zod/mini';
import { type ChainSettings, chainFields, chainsFormat, type GivenChain } from './chainSettings.ts';
import {
  addressFormat,
  chainNameFormat,
  expected,
  httpUrlFormat,
  splitList,
  wholeNumberFormat,
} from './settingFormats.ts';
import { SettingsError } from './settingsError.ts';

/** The environment, or what stands for it. */
export type Environment = Readonly<Record<string, string | undefined>>;

const privateKeyError = expected('0x followed by 64 hex digits');
const actionsError = expected(`a comma list of ${ACTIONS.join(', ')}`);
/** 10^9 wei in 18-decimal fixed point of gwei: 10^18 / 10^9. */
const FIXED_POINT_PER_WEI = 10n ** 9n;

const schema = z.object({
  GATEWAY_URL: z._default(httpUrlFormat, 'http://127.0.0.1:8787'),
  RELAYER_PRIVATE_KEY: z.optional(z.string().check(z.regex(/^0x[0-9a-fA-F]{64}$/, privateKeyError))),
  RELAYER_KEYSTORE: z.optional(z.string()),
  RELAYER_KEYSTORE_PASSWORD: z.optional(z.string()),
  RELAYER_CHAINS: z.optional(chainsFormat),
  CHAIN_NAME: z.optional(chainNameFormat),
  RPC_URL: z.optional(httpUrlFormat),
  FORWARDER_ADDRESS: z.optional(addressFormat),
  CREDITS_PER_ETH: z.optional(chainFields.CREDITS_PER_ETH),
  MAX_FEE_GWEI: z._default(chainFields.MAX_FEE_GWEI, 100n * 10n ** 18n),
  MAX_IN_FLIGHT: z._default(chainFields.MAX_IN_FLIGHT, 128),
  MAX_BATCH_SIZE: z._default(chainFields.MAX_BATCH_SIZE, 50),
  CONFIRMATIONS: z.optional(chainFields.CONFIRMATIONS),
  ACTIONS: z._default(
    z.string().check(
      z.refine((text) => {
        const names = splitList(text);
        return names.length > 0 && names.every(isAction);
      }, actionsError),
    ),
    ACTIONS.join(','),
  ),
  FEE_MARGIN_PERCENT: z._default(wholeNumberFormat(0, 1000), 10),
  MAX_SPONSOR_CREDITS: z._default(
    z.string().check(z.regex(/^\d{1,78}$/, expected('credits in base units, as a whole number'))),
    '0',
  ),
  POLL_MIN_MS: z._default(wholeNumberFormat(10, 60_000), 200),
  POLL_MAX_MS: z._default(wholeNumberFormat(10, 600_000), 2000),
  GIVE_UP_SECONDS: z._default(wholeNumberFormat(0, 86_400), 120),
  TAKE_OVER_SECONDS: z._default(wholeNumberFormat(0, 31_536_000), 0),
  DRAIN_SECONDS: z._default(wholeNumberFormat(0, 3600), 60),
  BUMP_AFTER_SECONDS: z._default(wholeNumberFormat(1, 3600), 30),
  DATA_DIR: z._default(z.string(), './data'),
  METRICS_PORT: z._default(
    z.union([z.literal('off'), wholeNumberFormat(0, 65_535)], expected('a port, 0 for any free one, or off')),
    9464,
  ),
  LOG_LEVEL: z._default(
    z.enum(['debug', 'info', 'warn', 'error', 'silent'], expected('debug, info, warn, error or silent')),
    'info',
  ),
});

type Parsed = z.infer<typeof schema>;

/** What is set for all chains alike. */
export interface RelayPolicy {
  readonly actions: ReadonlySet<Action>;
  /** By how much a fee must exceed the expected price of its gas, in percent. */
  readonly feeMarginPercent: number;
  /** Most credits that this relayer adds to a new prism, in base units. */
  readonly maxSponsorCredits: bigint;
  readonly pollMinMs: number;
  readonly pollMaxMs: number;
  /** How long a request that would revert is tried again before it is claimed and reported failed. */
  readonly giveUpMs: number;
  /** Age of another relayer's claim from which it is tried to be taken over; 0 = never. */
  readonly takeOverMs: number;
}

/** All settings, parsed. */
export interface Settings {
  readonly gatewayUrl: string;
  readonly privateKey: `0x${string}` | undefined;
  /** Path of an encrypted keystore, instead of the key. */
  readonly keystore: string | undefined;
  readonly keystorePassword: string | undefined;
  readonly chains: readonly ChainSettings[];
  readonly policy: RelayPolicy;
  readonly dataDir: string;
  readonly drainMs: number;
  /** When a transaction that no block takes is offered again for more. */
  readonly bumpAfterMs: number;
  readonly metricsPort: number | 'off';
  readonly logLevel: Parsed['LOG_LEVEL'];
}

function keyFaults(given: Environment): string[] {
  const { RELAYER_PRIVATE_KEY: key, RELAYER_KEYSTORE: keystore, RELAYER_KEYSTORE_PASSWORD: password } = given;
  if (key !== undefined && keystore !== undefined) {
    return ['RELAYER_KEYSTORE: expected either it or RELAYER_PRIVATE_KEY, not both'];
  }
  if (key === undefined && keystore === undefined) {
    return ['RELAYER_PRIVATE_KEY: required, or RELAYER_KEYSTORE and RELAYER_KEYSTORE_PASSWORD'];
  }
  if (keystore !== undefined && password === undefined) {
    return ['RELAYER_KEYSTORE_PASSWORD: required with RELAYER_KEYSTORE'];
  }
  return [];
}

const rateFault = 'CREDITS_PER_ETH: required: how many credits one ether is worth to this relayer';

function chainFaults(given: Environment): string[] {
  const single = ['CHAIN_NAME', 'RPC_URL', 'FORWARDER_ADDRESS'] as const;
  if (given.RELAYER_CHAINS === undefined) {
    const faults = single
      .filter((name) => given[name] === undefined)
      .map((name) => `${name}: required, unless RELAYER_CHAINS names the chains`);
    return given.CREDITS_PER_ETH === undefined ? [...faults, rateFault] : faults;
  }
  return single
    .filter((name) => given[name] !== undefined)
    .map((name) => `${name}: expected none beside RELAYER_CHAINS, which has its own`);
}

/** The chains that were named one way or the other; a chain without a rate has its fault named. */
function listChains(settings: Parsed, faults: string[]): ChainSettings[] {
  const { CHAIN_NAME: chainName, RPC_URL: rpcUrl, FORWARDER_ADDRESS: forwarder } = settings;
  const given: readonly GivenChain[] =
    settings.RELAYER_CHAINS ??
    (chainName && rpcUrl && forwarder ? [{ chainName, rpcUrl, forwarder, fromBlock: 0 }] : []);
  const names = given.map((chain) => chain.chainName);
  if (new Set(names).size < names.length) faults.push('RELAYER_CHAINS: expected each chainName once');
  const isUnrated = (chain: GivenChain) => (chain.creditsPerEth ?? settings.CREDITS_PER_ETH) === undefined;
  if (settings.RELAYER_CHAINS?.some(isUnrated)) faults.push(rateFault);
  return given.map((chain) => ({
    chainName: chain.chainName,
    rpcUrl: chain.rpcUrl,
    forwarder: chain.forwarder,
    chainId: chain.chainId,
    fromBlock: BigInt(chain.fromBlock),
    creditsPerEth: chain.creditsPerEth ?? settings.CREDITS_PER_ETH ?? 0n,
    maxFeePerGas: (chain.maxFeeGwei ?? settings.MAX_FEE_GWEI) / FIXED_POINT_PER_WEI,
    maxInFlight: chain.maxInFlight ?? settings.MAX_IN_FLIGHT,
    maxBatchSize: chain.maxBatchSize ?? settings.MAX_BATCH_SIZE,
    confirmations: chain.confirmations ?? settings.CONFIRMATIONS,
  }));
}

function issueText({ path, message }: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  const name = path.map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at > 0 ? '.' : ''}${String(key)}`));
  return `${name.join('')}: ${message}`;
}

/**
 * Parses all settings, once, at start. An empty value counts as unset.
 *
 * @throws SettingsError `SETTINGS_INVALID`: names every fault and repeats no value
 */
export function parseSettings(environment: Environment): Settings {
  const given: Environment = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const faults = [...keyFaults(given), ...chainFaults(given)];
  const result = schema.safeParse(given);
  // One text can break two rules of one format, which say the same.
  if (!result.success) throw new SettingsError([...new Set([...result.error.issues.map(issueText), ...faults])]);
  const settings = result.data;
  const chains = listChains(settings, faults);
  if (settings.POLL_MIN_MS > settings.POLL_MAX_MS) faults.push('POLL_MIN_MS: expected at most POLL_MAX_MS');
  if (faults.length > 0) throw new SettingsError(faults);
  return {
    gatewayUrl: settings.GATEWAY_URL,
    // The schema has seen that it is hex.
    privateKey: settings.RELAYER_PRIVATE_KEY as `0x${string}` | undefined,
    keystore: settings.RELAYER_KEYSTORE,
    keystorePassword: settings.RELAYER_KEYSTORE_PASSWORD,
    chains,
    policy: {
      actions: new Set(splitList(settings.ACTIONS).filter(isAction)),
      feeMarginPercent: settings.FEE_MARGIN_PERCENT,
      maxSponsorCredits: BigInt(settings.MAX_SPONSOR_CREDITS),
      pollMinMs: settings.POLL_MIN_MS,
      pollMaxMs: settings.POLL_MAX_MS,
      giveUpMs: settings.GIVE_UP_SECONDS * 1000,
      takeOverMs: settings.TAKE_OVER_SECONDS * 1000,
    },
    dataDir: settings.DATA_DIR,
    drainMs: settings.DRAIN_SECONDS * 1000,
    bumpAfterMs: settings.BUMP_AFTER_SECONDS * 1000,
    metricsPort: settings.METRICS_PORT,
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
