import * as z from 'zod/mini';
import { type GasTarget, parseGasTargets } from './gasTargets.ts';
import { SettingsError } from './SettingsError.ts';
import {
  address,
  addressList,
  baseUnits,
  decimalAmount,
  httpUrl,
  oneOf,
  privateKey,
  smtpUrl,
  wholeNumber,
} from './settingFields.ts';

/** The environment, or what stands for it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Longest wait that a setting may ask for, in milliseconds: a day. */
const DAY_MS = 86_400_000;
/** Half of a price, in basis points: then a payment costs twice its amount at most. */
const MAX_SLIPPAGE_BPS = 5000;

const schema = z.object({
  FRONTEND_URL: z.optional(httpUrl),
  RELAYER_SECRET: z.optional(z.string()),
  RPC_URL: z.optional(httpUrl),
  CHAIN_ID: wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 }),
  RELAYER_PRIVATE_KEY: z.optional(privateKey),
  RELAYER_KEYSTORE: z.optional(z.string()),
  RELAYER_KEYSTORE_PASSWORD: z.optional(z.string()),
  RELAYER_ADDRESSES: addressList,
  EXCHANGE_ADDRESS: z.optional(address),
  CREDIT_TOKEN_ADDRESS: z.optional(address),
  STABLECOIN_ADDRESS: z.optional(address),
  POLL_INTERVAL_MS: wholeNumber({ min: 10, max: DAY_MS, fallback: 10_000 }),
  MAX_FEE_GWEI: decimalAmount({ decimals: 9, fallback: '100' }),
  MAX_RETRIES: wholeNumber({ min: 0, max: 1000, fallback: 5 }),
  RETRY_DELAY_MS: wholeNumber({ min: 0, max: DAY_MS, fallback: 5000 }),
  SLIPPAGE_BPS: wholeNumber({ min: 0, max: MAX_SLIPPAGE_BPS, fallback: 100 }),
  MAX_PAYMENT: baseUnits(1_000_000_000n),
  DAILY_LIMIT: baseUnits(10_000_000_000n),
  MAX_IN_FLIGHT: wholeNumber({ min: 1, max: 64, fallback: 16 }),
  TAKEOVER_WAIT_MS: wholeNumber({ min: 100, max: DAY_MS, fallback: 60_000 }),
  RPC_TIMEOUT_MS: wholeNumber({ min: 50, max: 600_000, fallback: 10_000 }),
  RPC_POLL_INTERVAL_MS: wholeNumber({ min: 5, max: 600_000, fallback: 1000 }),
  BUMP_AFTER_MS: wholeNumber({ min: 50, max: DAY_MS, fallback: 60_000 }),
  SEARCH_FROM_BLOCK: wholeNumber({ min: 0, max: 1e12, fallback: 0 }),
  REORG_DEPTH: wholeNumber({ min: 1, max: 1000, fallback: 32 }),
  GAS_WARN_BALANCE_ETH: decimalAmount({ decimals: 18, fallback: '0.1' }),
  GAS_POLL_INTERVAL_MS: wholeNumber({ min: 10, max: DAY_MS, fallback: 180_000 }),
  GAS_MONITOR_TARGETS: z.optional(z.string()),
  STABLECOIN_WARN_BALANCE: baseUnits(100_000_000n),
  SMTP_URL: z.optional(smtpUrl),
  ALERT_EMAIL_FROM: z.optional(
    z.string().check(z.regex(/^[^\r\n]+@[^\r\n]+$/, { error: 'expected an e-mail address' })),
  ),
  ALERT_EMAIL_TO: z.optional(z.string().check(z.regex(/^[^\r\n]+@[^\r\n]+$/, { error: 'expected e-mail addresses' }))),
  ALERT_CHAT_WEBHOOK_URL: z.optional(httpUrl),
  ALERT_CHAT_FORM: oneOf(['auto', 'slack', 'discord', 'telegram']),
  ALERT_CHAT_ID: z.optional(z.string()),
  METRICS_FILE: z.optional(z.string()),
  METRICS_PUSH_URL: z.optional(httpUrl),
  DATA_DIR: z._default(z.string(), './data/payments'),
  LOG_LEVEL: z._default(
    z.enum(['debug', 'info', 'warn', 'error', 'silent'], { error: 'expected debug, info, warn, error or silent' }),
    'info',
  ),
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
  status: [],
} as const;

/** The programs that read these settings. */
export type Program = keyof typeof REQUIRED;

type RequiredBy<Name extends Program> = (typeof REQUIRED)[Name][number];

/** All settings of a program, parsed; those that it cannot do without are there. */
export type Settings<Name extends Program = 'status'> = Omit<Parsed, 'GAS_MONITOR_TARGETS'> & {
  readonly [Key in RequiredBy<Name>]: NonNullable<Parsed[Key]>;
} & { readonly gasTargets: readonly GasTarget[] };

function keyFaults(given: Environment): string[] {
  const hasKey = given.RELAYER_PRIVATE_KEY !== undefined;
  const hasKeystore = given.RELAYER_KEYSTORE !== undefined;
  if (!hasKey && !hasKeystore) return ['RELAYER_PRIVATE_KEY: required, or RELAYER_KEYSTORE in its place'];
  if (hasKey && hasKeystore) return ['RELAYER_KEYSTORE: expected either this or RELAYER_PRIVATE_KEY'];
  if (hasKeystore && given.RELAYER_KEYSTORE_PASSWORD === undefined)
    return ['RELAYER_KEYSTORE_PASSWORD: required with RELAYER_KEYSTORE'];
  return [];
}

/** A broadcast may take until the RPC timeout after a look at the chain that is almost as old as that. */
function takeoverFaults(given: Environment): string[] {
  const { RELAYER_ADDRESSES: others, TAKEOVER_WAIT_MS: wait = '60000', RPC_TIMEOUT_MS: timeout = '10000' } = given;
  if (others === undefined || Number(wait) >= 2 * Number(timeout)) return [];
  return ['TAKEOVER_WAIT_MS: expected at least twice RPC_TIMEOUT_MS'];
}

function alertFaults(given: Environment): string[] {
  const faults: string[] = [];
  const isMailed = given.SMTP_URL !== undefined;
  for (const name of ['ALERT_EMAIL_FROM', 'ALERT_EMAIL_TO'] as const) {
    if (isMailed && given[name] === undefined) faults.push(`${name}: required with SMTP_URL`);
    if (!isMailed && given[name] !== undefined) faults.push(`SMTP_URL: required with ${name}`);
  }
  if (given.ALERT_CHAT_FORM === 'telegram' && given.ALERT_CHAT_ID === undefined)
    faults.push('ALERT_CHAT_ID: required with ALERT_CHAT_FORM=telegram');
  return [...new Set(faults)];
}

function targetFaults(program: Program, given: Environment): string[] {
  if (program !== 'gas-monitor') return [];
  const { GAS_MONITOR_TARGETS: targets } = given;
  if (targets !== undefined && parseGasTargets(targets) === undefined)
    return ['GAS_MONITOR_TARGETS: expected name=rpcUrl|address|address, with commas between chains'];
  if (targets !== undefined) return [];
  const own = given.RPC_URL === undefined ? ['RPC_URL: required, or GAS_MONITOR_TARGETS in its place'] : [];
  const isNamed = given.RELAYER_ADDRESSES !== undefined;
  return isNamed ? own : [...own, ...keyFaults(given).map((fault) => `${fault}; or name RELAYER_ADDRESSES to watch`)];
}

/**
 * Parses all settings of a program, once, at start. An empty value counts as unset.
 *
 * @param program - which program starts
 * @param environment - texts by name
 * @returns the settings
 * @throws SettingsError that names every fault and repeats no value
 * @see DECISIONS.md, "Payment relayer and its frontend"; SPEC.md section 8
 */
export function parseSettings<Name extends Program>(program: Name, environment: Environment): Settings<Name> {
  const given: Environment = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const faults: string[] = REQUIRED[program]
    .filter((name) => given[name] === undefined)
    .map((name) => `${name}: required`);
  if (program === 'payments') faults.push(...keyFaults(given), ...takeoverFaults(given));
  faults.push(...alertFaults(given), ...targetFaults(program, given));
  const result = schema.safeParse(given);
  if (!result.success) {
    faults.unshift(...result.error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`));
  }
  if (!result.success || faults.length > 0) throw new SettingsError([...new Set(faults)]);
  const { GAS_MONITOR_TARGETS: targets, ...settings } = result.data;
  // What the program requires has just been found to be there.
  return { ...settings, gasTargets: parseGasTargets(targets ?? '') ?? [] } as Settings<Name>;
}
