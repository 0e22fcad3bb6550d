import { alertSettings } from '@prism-gateway/node/alerts';
import {
  baseUnits,
  decimalAmount,
  expected,
  httpUrl,
  listOf,
  logLevel,
  oneOf,
  portOrOff,
  privateKey,
  setting,
  wholeNumber,
} from '@prism-gateway/node/settings';
import { type Address, getAddress, isAddress } from 'viem';
import * as z from 'zod/mini';

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

/** Longest wait that a setting may ask for, in milliseconds: a day. */
const DAY_MS = 86_400_000;
/** Half of a price, in basis points: then a payment costs twice its amount at most. */
const MAX_SLIPPAGE_BPS = 5000;

const instanceName = z.string().check(z.regex(/^[\x20-\x7e]{1,64}$/, expected('1 to 64 printable ASCII characters')));

/** Settings of both programs: chain, key and instance. */
const common = {
  RPC_URL: setting(httpUrl(), 'node of the chain', { unset: 'required', isSecret: true }),
  CHAIN_ID: setting(wholeNumber(0, Number.MAX_SAFE_INTEGER), 'chain that the node must be of; 0: any', {
    initial: '0',
  }),
  RELAYER_PRIVATE_KEY: setting(privateKey(), 'a key of its own for each instance; or an encrypted keystore', {
    isSecret: true,
  }),
  RELAYER_KEYSTORE: setting(z.string(), 'path of the keystore'),
  RELAYER_KEYSTORE_PASSWORD: setting(z.string(), 'its password', { isSecret: true }),
  STABLECOIN_ADDRESS: setting(checkedAddress(), 'the stablecoin, of 6 decimals', { unset: 'required' }),
  EXCHANGE_ADDRESS: setting(checkedAddress(), 'the contract that sells credits', { unset: 'required' }),
  RELAYER_ADDRESSES: setting(
    listOf(checkedAddress()),
    'addresses of the other instances, past and present, with commas between; of the gas monitor: further addresses to watch',
    { initial: '', unset: 'none' },
  ),
  STAGE: setting(
    oneOf(['dev', 'prod']),
    'prod refuses plain http to a public frontend, short secrets, and two contracts at one address',
    { initial: 'dev' },
  ),
  RPC_TIMEOUT_MS: setting(wholeNumber(50, 600_000), 'how long a node may take', { initial: '10000' }),
} as const;

const running = {
  ...alertSettings,
  INSTANCE_NAME: setting(instanceName, 'how alerts call this instance', { unset: 'its address, or the host' }),
  DATA_DIR: setting(z.string(), 'journals; one for each instance', {
    initial: './data/payments',
    heading: 'How it runs',
  }),
  LOCK_DIR: setting(z.string(), 'locks that keep two processes of one key apart, on this machine', {
    unset: 'a folder of this user',
  }),
  LOG_LEVEL: setting(logLevel(), 'debug, info, warn, error or silent', { initial: 'info' }),
  METRICS_PORT: setting(portOrOff(), 'serves /metrics (Prometheus) and /health; 0 = any free port', { initial: 'off' }),
  METRICS_HOST: setting(z.string(), 'another address only in a network of your own', { initial: '127.0.0.1' }),
  HEARTBEAT_URL: setting(httpUrl(), 'called after each round that goes through, as healthchecks services have it', {
    isSecret: true,
  }),
} as const;

/** The payment relayer's settings: the one place of their forms, defaults and meanings. */
export const paymentsSettings = {
  FRONTEND_URL: setting(httpUrl(), 'the frontend, which lists payments', { unset: 'required' }),
  RELAYER_SECRET: setting(z.string(), 'the secret it knows the relayer by', { unset: 'required', isSecret: true }),
  FRONTEND_ID: setting(
    z.string().check(z.regex(/^[\x21-\x7e]{1,200}$/, expected('1 to 200 visible ASCII characters'))),
    'name of the frontend; the contract Payouts must have the same',
  ),
  ...common,
  CREDIT_TOKEN_ADDRESS: setting(checkedAddress(), 'the credit token, of 18 decimals', { unset: 'required' }),
  PAYOUTS_ADDRESS: setting(
    checkedAddress(),
    'contract Payouts, through which payouts go; it pays each payout id once; required with RELAYER_ADDRESSES',
  ),
  PAYOUTS_DEPLOYER_PRIVATE_KEY: setting(privateKey(), 'for deploy-payouts: a key with ether that no instance has', {
    isSecret: true,
  }),
  EXCHANGE_RATE: setting(wholeNumber(1, 1e12), 'credits for one stablecoin', {
    initial: '1000',
    heading: 'What it pays',
  }),
  MAX_RATE_DEVIATION_BPS: setting(
    wholeNumber(0, 10_000),
    "how far the Exchange's own rate may be from it, in basis points",
    { initial: '500' },
  ),
  SLIPPAGE_BPS: setting(
    wholeNumber(0, MAX_SLIPPAGE_BPS),
    "how much less than the claim's price and a quote a buy may give, in basis points",
    { initial: '100' },
  ),
  MAX_FEE_GWEI: setting(decimalAmount(9), 'no payment is begun, and no transaction pays, above this gas price', {
    initial: '100',
  }),
  MAX_PAYMENT: setting(baseUnits(), 'in stablecoin base units (6 decimals); a larger one is held', {
    initial: '1000000000',
  }),
  DAILY_LIMIT: setting(baseUnits(), 'in stablecoin base units a day; beyond it payments are held', {
    initial: '10000000000',
  }),
  DAILY_CREDIT_LIMIT: setting(decimalAmount(18), 'in credits a day', { unset: 'DAILY_LIMIT at the best rate allowed' }),
  MAX_IN_FLIGHT: setting(wholeNumber(1, 64), 'payments under way and not yet paid', { initial: '16' }),
  POLL_INTERVAL_MS: setting(wholeNumber(10, DAY_MS), 'how often the frontend is asked', {
    initial: '10000',
    heading: 'When',
  }),
  MAX_RETRIES: setting(wholeNumber(0, 1000), 'tries of a step that fails', { initial: '5' }),
  RETRY_DELAY_MS: setting(wholeNumber(0, DAY_MS), 'pause between them', { initial: '5000' }),
  RPC_POLL_INTERVAL_MS: setting(wholeNumber(5, 600_000), 'how often the node is asked for a receipt', {
    initial: '1000',
  }),
  BUMP_AFTER_MS: setting(wholeNumber(50, DAY_MS), 'a transaction not mined after this long pays more', {
    initial: '60000',
  }),
  SEARCH_FROM_BLOCK: setting(
    wholeNumber(0, 1e12),
    "where a new journal begins to look for payouts: the credit token's first block",
    { initial: '0' },
  ),
  REORG_DEPTH: setting(wholeNumber(1, 1000), 'blocks that may be replaced', { initial: '32' }),
  LATE_AFTER_MINUTES: setting(wholeNumber(1, 100_000), 'an open or listed payment older than this is alerted', {
    initial: '30',
  }),
  EXPLORER_URL: setting(httpUrl(), 'of the chain, like https://etherscan.io; show writes links to it'),
  ...running,
} as const;

/** The gas monitor's settings. */
export const gasMonitorSettings = {
  ...common,
  RPC_URL: setting(httpUrl(), 'node of the chain, unless GAS_MONITOR_TARGETS names all', { isSecret: true }),
  STABLECOIN_ADDRESS: setting(checkedAddress(), "watches stablecoin balance and approval on RPC_URL's chain, too"),
  EXCHANGE_ADDRESS: setting(checkedAddress(), 'to which the approval is'),
  GAS_MONITOR_TARGETS: setting(z.string(), 'other chains: name=rpcUrl|address|address, with commas between', {
    isSecret: true,
  }),
  GAS_WARN_BALANCE_ETH: setting(decimalAmount(18), 'warns below this balance', { initial: '0.1' }),
  GAS_POLL_INTERVAL_MS: setting(wholeNumber(10, DAY_MS), 'how often balances are read', { initial: '180000' }),
  STABLECOIN_WARN_BALANCE: setting(baseUnits(), 'in stablecoin base units (6 decimals)', { initial: '100000000' }),
  MAX_HEAD_AGE_SECONDS: setting(
    wholeNumber(0, DAY_MS / 1000),
    'a node whose newest block is older counts as silent; 0 = off',
    { unset: '0; 600 in prod' },
  ),
  PAYMENTS_HEALTH_URL: setting(httpUrl(), '/health of a payment relayer, which is looked at as well'),
  ...running,
} as const;
