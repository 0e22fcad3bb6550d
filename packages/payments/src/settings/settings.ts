import { alertFaults, alertFields } from '@prism-gateway/alerts';
import {
  baseUnits,
  decimalAmount,
  type Environment,
  expected,
  httpUrl,
  keyFaults,
  listOf,
  logLevel,
  oneOf,
  parseEnvironment,
  portOrOff,
  privateKey,
  wholeNumber,
} from '@prism-gateway/runtime/settings';
import { type Address, getAddress, isAddress } from 'viem';
import * as z from 'zod/mini';
import { readSecretFiles } from './readSecretFiles.ts';

/**
 * An address of an account or contract that money goes to; one that is written in mixed case must have its checksum.
 *
 * @returns the field; its value is the address with its checksum
 * @see EIP-55
 */
function checkedAddress() {
  const error = expected('an address with its checksum');
  return z.pipe(
    z.string(error).check(z.refine((text: string) => isAddress(text), error)),
    z.transform((text: string): Address => (isAddress(text) ? getAddress(text) : '0x')),
  );
}

/**
 * Addresses with commas between.
 *
 * @returns the field; its value is the list
 */
function addressList() {
  return z._default(listOf(checkedAddress()), []);
}

/** One chain whose accounts are watched. */
interface GasTarget {
  /** How alerts call the chain. */
  readonly name: string;
  readonly rpcUrl: string;
  readonly addresses: readonly Address[];
}

/**
 * Reads `GAS_MONITOR_TARGETS`: `name=rpcUrl|address|address` with commas between chains.
 *
 * @param text - the setting
 * @returns the chains, or undefined where the text is none of that
 */
function parseGasTargets(text: string): readonly GasTarget[] | undefined {
  const targets: GasTarget[] = [];
  for (const part of text.split(',').map((piece) => piece.trim())) {
    const match = /^([A-Za-z0-9_.-]{1,64})=([^|]+)((?:\|0x[0-9a-fA-F]{40})+)$/.exec(part);
    const [, name, rpcUrl, rest] = match ?? [];
    if (name === undefined || rpcUrl === undefined || rest === undefined) return undefined;
    const addresses = rest.slice(1).split('|');
    const usable = URL.canParse(rpcUrl) && /^https?:$/.test(new URL(rpcUrl).protocol);
    if (!usable || !addresses.every((item) => isAddress(item))) return undefined;
    targets.push({ name, rpcUrl, addresses: addresses.map((item) => getAddress(item)) });
  }
  return targets;
}

/** Longest wait that a setting may ask for, in milliseconds: a day. */
const DAY_MS = 86_400_000;
/** Half of a price, in basis points: then a payment costs twice its amount at most. */
const MAX_SLIPPAGE_BPS = 5000;

/** Shorter secrets can be guessed. */
const MIN_SECRET_LENGTH = 32;

const schema = z.object({
  FRONTEND_URL: z.optional(httpUrl()),
  RELAYER_SECRET: z.optional(z.string()),
  RPC_URL: z.optional(httpUrl()),
  CHAIN_ID: z._default(wholeNumber(0, Number.MAX_SAFE_INTEGER), 0),
  RELAYER_PRIVATE_KEY: z.optional(privateKey()),
  RELAYER_KEYSTORE: z.optional(z.string()),
  RELAYER_KEYSTORE_PASSWORD: z.optional(z.string()),
  RELAYER_ADDRESSES: addressList(),
  EXCHANGE_ADDRESS: z.optional(checkedAddress()),
  CREDIT_TOKEN_ADDRESS: z.optional(checkedAddress()),
  STABLECOIN_ADDRESS: z.optional(checkedAddress()),
  PAYOUTS_ADDRESS: z.optional(checkedAddress()),
  PAYOUTS_DEPLOYER_PRIVATE_KEY: z.optional(privateKey()),
  EXCHANGE_RATE: z._default(wholeNumber(1, 1e12), 1000),
  MAX_RATE_DEVIATION_BPS: z._default(wholeNumber(0, 10_000), 500),
  POLL_INTERVAL_MS: z._default(wholeNumber(10, DAY_MS), 10_000),
  MAX_FEE_GWEI: z._default(decimalAmount(9), 100n * 10n ** 9n),
  MAX_RETRIES: z._default(wholeNumber(0, 1000), 5),
  RETRY_DELAY_MS: z._default(wholeNumber(0, DAY_MS), 5000),
  SLIPPAGE_BPS: z._default(wholeNumber(0, MAX_SLIPPAGE_BPS), 100),
  MAX_PAYMENT: z._default(baseUnits(), 1_000_000_000n),
  DAILY_LIMIT: z._default(baseUnits(), 10_000_000_000n),
  DAILY_CREDIT_LIMIT: z.optional(decimalAmount(18)),
  MAX_IN_FLIGHT: z._default(wholeNumber(1, 64), 16),
  RPC_TIMEOUT_MS: z._default(wholeNumber(50, 600_000), 10_000),
  RPC_POLL_INTERVAL_MS: z._default(wholeNumber(5, 600_000), 1000),
  BUMP_AFTER_MS: z._default(wholeNumber(50, DAY_MS), 60_000),
  SEARCH_FROM_BLOCK: z._default(wholeNumber(0, 1e12), 0),
  REORG_DEPTH: z._default(wholeNumber(1, 1000), 32),
  GAS_WARN_BALANCE_ETH: z._default(decimalAmount(18), 10n ** 17n),
  GAS_POLL_INTERVAL_MS: z._default(wholeNumber(10, DAY_MS), 180_000),
  GAS_MONITOR_TARGETS: z.optional(z.string()),
  MAX_HEAD_AGE_SECONDS: z.optional(wholeNumber(0, DAY_MS / 1000)),
  STABLECOIN_WARN_BALANCE: z._default(baseUnits(), 100_000_000n),
  ...alertFields,
  INSTANCE_NAME: z.optional(
    z.string().check(z.regex(/^[\x20-\x7e]{1,64}$/, expected('1 to 64 printable ASCII characters'))),
  ),
  LATE_AFTER_MINUTES: z._default(wholeNumber(1, 100_000), 30),
  STAGE: z._default(oneOf(['dev', 'prod']), 'dev'),
  METRICS_HOST: z._default(z.string(), '127.0.0.1'),
  METRICS_PORT: z._default(portOrOff(), 'off'),
  METRICS_FILE: z.optional(z.string()),
  METRICS_PUSH_URL: z.optional(httpUrl()),
  LOCK_DIR: z.optional(z.string()),
  DATA_DIR: z._default(z.string(), './data/payments'),
  LOG_LEVEL: z._default(logLevel(), 'info'),
});

type Parsed = z.infer<typeof schema>;

/** What the programs cannot do without. */
const REQUIRED = {
  payments: [
    'FRONTEND_URL',
    'RELAYER_SECRET',
    'RPC_URL',
    'EXCHANGE_ADDRESS',
    'CREDIT_TOKEN_ADDRESS',
    'STABLECOIN_ADDRESS',
  ],
  'gas-monitor': [],
  reconcile: ['FRONTEND_URL', 'RELAYER_SECRET', 'RPC_URL', 'CREDIT_TOKEN_ADDRESS'],
  'deploy-payouts': ['RPC_URL', 'CREDIT_TOKEN_ADDRESS', 'PAYOUTS_DEPLOYER_PRIVATE_KEY'],
  status: [],
} as const;

/** The programs that read these settings. */
export type Program = keyof typeof REQUIRED;

type RequiredBy<Name extends Program> = (typeof REQUIRED)[Name][number];

/** All settings of a program, parsed; those that it cannot do without are there. */
export type Settings<Name extends Program = 'status'> = Omit<Parsed, 'GAS_MONITOR_TARGETS'> & {
  readonly [Key in RequiredBy<Name>]: NonNullable<Parsed[Key]>;
} & { readonly gasTargets: readonly GasTarget[] };

/** A plain transfer is for one instance: nothing on the chain keeps the transfers of several apart. */
function peerFaults({ RELAYER_ADDRESSES: others, PAYOUTS_ADDRESS: payouts }: Environment): string[] {
  if (others === undefined || payouts !== undefined) return [];
  return ['PAYOUTS_ADDRESS: required with RELAYER_ADDRESSES, for several instances pay through the contract Payouts'];
}

function targetFaults(program: Program, given: Environment): string[] {
  if (program !== 'gas-monitor') return [];
  const { GAS_MONITOR_TARGETS: targets } = given;
  if (targets !== undefined && parseGasTargets(targets) === undefined)
    return ['GAS_MONITOR_TARGETS: expected name=rpcUrl|address|address, with commas between chains'];
  if (targets !== undefined) return [];
  const own = given.RPC_URL === undefined ? ['RPC_URL: required, or GAS_MONITOR_TARGETS in its place'] : [];
  const isNamed = given.RELAYER_ADDRESSES !== undefined;
  return isNamed
    ? own
    : [...own, ...keyFaults(given, 'RELAYER_').map((fault) => `${fault}; or name RELAYER_ADDRESSES to watch`)];
}

/** Whether a URL stays on this machine or in a private network, where no stranger listens. */
function isPrivateHost(url: string): boolean {
  const { hostname } = new URL(url);
  if (
    /^(localhost|127(\.\d+){3}|10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|\[::1\])$/.test(
      hostname,
    )
  )
    return true;
  // Of IPv6, those that are not routed: RFC 4193 and RFC 4291.
  if (hostname.startsWith('[')) return /^\[f([cd]|e[89ab])/.test(hostname);
  // A name without a point is one of a container network.
  return !hostname.includes('.') || hostname.endsWith('.internal') || hostname.endsWith('.local');
}

/** What is refused in production of whatever calls the frontend: a secret in the clear, and one that can be guessed. */
function secretFaults(given: Environment): string[] {
  if (given.STAGE !== 'prod') return [];
  const { FRONTEND_URL: url = '', RELAYER_SECRET: secret = '' } = given;
  const faults: string[] = [];
  if (URL.canParse(url) && new URL(url).protocol === 'http:' && !isPrivateHost(url))
    faults.push('FRONTEND_URL: expected https, for the secret goes with every call');
  if (secret.length < MIN_SECRET_LENGTH)
    faults.push(`RELAYER_SECRET: expected at least ${MIN_SECRET_LENGTH} characters`);
  return faults;
}

/** What is refused in production beside that: two contracts at one address. */
function contractFaults(given: Environment): string[] {
  if (given.STAGE !== 'prod') return [];
  const faults: string[] = [];
  const names = ['EXCHANGE_ADDRESS', 'CREDIT_TOKEN_ADDRESS', 'STABLECOIN_ADDRESS', 'PAYOUTS_ADDRESS'] as const;
  const seen = new Map<string, string>();
  for (const name of names) {
    const value = given[name]?.toLowerCase();
    const other = value === undefined ? undefined : seen.get(value);
    if (other !== undefined) faults.push(`${name}: expected another address than ${other}`);
    if (value !== undefined) seen.set(value, name);
  }
  return faults;
}

function findFaults(program: Program, given: Environment): readonly string[] {
  const missing = REQUIRED[program].filter((name) => given[name] === undefined).map((name) => `${name}: required`);
  const own =
    program === 'payments' ? [...keyFaults(given, 'RELAYER_'), ...peerFaults(given), ...contractFaults(given)] : [];
  const called = program === 'payments' || program === 'reconcile' ? secretFaults(given) : [];
  return [...missing, ...own, ...called, ...alertFaults(given), ...targetFaults(program, given)];
}

/**
 * Parses all settings of a program, once, at start. An empty value counts as unset.
 *
 * @param program - which program starts
 * @param environment - texts by name
 * @returns the settings
 * @throws SettingsError that names every fault and repeats no value
 * @see docs/specification.md PAY-4
 */
export function parseSettings<Name extends Program>(program: Name, environment: Environment): Settings<Name> {
  const rules = {
    schema,
    findFaults: (given: Environment) => findFaults(program, given),
  };
  const { GAS_MONITOR_TARGETS: targets, ...settings } = parseEnvironment(rules, readSecretFiles(environment));
  // What the program requires has just been found to be there.
  return { ...settings, gasTargets: parseGasTargets(targets ?? '') ?? [] } as Settings<Name>;
}
