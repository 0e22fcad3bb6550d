import { alertFaults } from '@prism-gateway/node/alerts';
import {
  type Environment,
  keyFaults,
  parseEnvironment,
  type SettingValues,
  secretValues,
} from '@prism-gateway/node/settings';
import { type Address, getAddress, isAddress } from 'viem';
import { gasMonitorSettings, paymentsSettings } from './paymentsSettings.ts';

export { gasMonitorSettings, paymentsSettings } from './paymentsSettings.ts';

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
 * @returns the chains, or undefined if the text is none of that
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

/** Shorter secrets can be guessed. */
const MIN_SECRET_LENGTH = 32;

const settings = { ...gasMonitorSettings, ...paymentsSettings };

type Parsed = SettingValues<typeof settings>;

/** Settings that a program cannot do without. */
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
  'deploy-payouts': ['FRONTEND_ID', 'RPC_URL', 'CREDIT_TOKEN_ADDRESS', 'PAYOUTS_DEPLOYER_PRIVATE_KEY'],
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

/** Whether a URL stays on this machine or in a private network, if no stranger listens. */
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

/** Refuses in production, for whatever calls the frontend, a secret in the clear and one that can be guessed. */
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

/** Refuses in production two contracts at one address. */
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
 * @throws SettingsError that names every fault and repeats no value
 * @see docs/specification.md PAY-4
 */
export function parseSettings<Name extends Program>(program: Name, environment: Environment): Settings<Name> {
  const rules = { settings, findFaults: (given: Environment) => findFaults(program, given) };
  const { GAS_MONITOR_TARGETS: targets, ...values } = parseEnvironment(rules, environment);
  // The required settings have just been found to be there.
  return { ...values, gasTargets: parseGasTargets(targets ?? '') ?? [] } as Settings<Name>;
}

/** Lists what must never be printed: secrets, and URLs that may hold one. */
export function secretsOf(values: Settings): readonly string[] {
  const { FRONTEND_URL: url, gasTargets } = values;
  // The frontend's address is no secret.
  const password = url === undefined ? [] : [new URL(url).password];
  return [...secretValues(settings, values), ...password, ...gasTargets.map(({ rpcUrl }) => rpcUrl)];
}
