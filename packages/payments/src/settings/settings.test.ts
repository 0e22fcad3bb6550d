import type { Environment } from '@prism-gateway/node/settings';
import { expect, test } from 'vitest';
import { gasMonitorSettings, parseSettings, paymentsSettings, secretsOf } from './settings.ts';

const ADDRESS = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const KEY = `0x${'1'.repeat(64)}`;
const good: Environment = {
  FRONTEND_URL: 'https://frontend.example',
  RELAYER_SECRET: 'shared',
  RPC_URL: 'https://rpc.example/key',
  RELAYER_PRIVATE_KEY: KEY,
  EXCHANGE_ADDRESS: ADDRESS,
  CREDIT_TOKEN_ADDRESS: ADDRESS,
  STABLECOIN_ADDRESS: ADDRESS,
};

function faultyNames(program: 'payments' | 'gas-monitor' | 'reconcile', environment: Environment): string[] {
  try {
    parseSettings(program, environment);
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    expect(message).not.toMatch(/s3cret/);
    return [...message.matchAll(/(?:^Bad setting: |\n {2})([A-Z0-9_]+)(?:\[\d+\])?: /g)]
      .map(([, name = '']) => name)
      .toSorted();
  }
}

test('the constants of the specification are the defaults', () => {
  expect(parseSettings('payments', { ...good, POLL_INTERVAL_MS: '' })).toMatchObject({
    POLL_INTERVAL_MS: 10_000,
    MAX_FEE_GWEI: 100_000_000_000n,
    MAX_RETRIES: 5,
    RETRY_DELAY_MS: 5000,
    SLIPPAGE_BPS: 100,
    GAS_WARN_BALANCE_ETH: 100_000_000_000_000_000n,
    GAS_POLL_INTERVAL_MS: 180_000,
    RELAYER_ADDRESSES: [],
    gasTargets: [],
  });
});

test('every fault is named at once, and no value is repeated', () => {
  const environment: Environment = {
    FRONTEND_URL: 'ftp://s3cret',
    RPC_URL: 's3cret',
    RELAYER_PRIVATE_KEY: 's3cret',
    EXCHANGE_ADDRESS: ADDRESS.replace('5F', '5f'),
    CREDIT_TOKEN_ADDRESS: 's3cret',
    RELAYER_ADDRESSES: `${ADDRESS}, s3cret`,
    MAX_FEE_GWEI: '-s3cret',
    MAX_PAYMENT: '1.5',
    SLIPPAGE_BPS: '5001',
    SMTP_URL: 'http://s3cret',
    ALERT_CHAT_FORM: 'telegram',
  };
  expect(faultyNames('payments', environment)).toEqual([
    'ALERT_CHAT_ID',
    'ALERT_EMAIL_FROM',
    'ALERT_EMAIL_TO',
    'CREDIT_TOKEN_ADDRESS',
    'EXCHANGE_ADDRESS',
    'FRONTEND_URL',
    'MAX_FEE_GWEI',
    'MAX_PAYMENT',
    'PAYOUTS_ADDRESS',
    'RELAYER_ADDRESSES',
    'RELAYER_PRIVATE_KEY',
    'RELAYER_SECRET',
    'RPC_URL',
    'SLIPPAGE_BPS',
    'SMTP_URL',
    'STABLECOIN_ADDRESS',
  ]);
});

test.each<[string, Environment, string[]]>([
  ['no key at all', { ...good, RELAYER_PRIVATE_KEY: undefined }, ['RELAYER_PRIVATE_KEY']],
  [
    'a keystore without its password',
    { ...good, RELAYER_PRIVATE_KEY: undefined, RELAYER_KEYSTORE: 'k.json' },
    ['RELAYER_KEYSTORE_PASSWORD'],
  ],
  ['key and keystore', { ...good, RELAYER_KEYSTORE: 'k.json' }, ['RELAYER_KEYSTORE']],
  ['an alert address without a server', { ...good, ALERT_EMAIL_TO: 'a@b.example' }, ['SMTP_URL']],
  ['another instance without the contract', { ...good, RELAYER_ADDRESSES: ADDRESS }, ['PAYOUTS_ADDRESS']],
  ['another instance with the contract', { ...good, RELAYER_ADDRESSES: ADDRESS, PAYOUTS_ADDRESS: ADDRESS }, []],
  ['a poll without a pause', { ...good, POLL_INTERVAL_MS: '0' }, ['POLL_INTERVAL_MS']],
])('%s is refused', (_, environment, names) => {
  expect(faultyNames('payments', environment)).toEqual(names);
});

test('the gas monitor watches an address without a key, and other chains', () => {
  expect(faultyNames('gas-monitor', {})).toEqual(['RELAYER_PRIVATE_KEY', 'RPC_URL']);
  expect(faultyNames('gas-monitor', { RPC_URL: 'http://rpc.example', RELAYER_ADDRESSES: ADDRESS })).toEqual([]);
  expect(faultyNames('gas-monitor', { GAS_MONITOR_TARGETS: 'base=http://rpc.example' })).toEqual([
    'GAS_MONITOR_TARGETS',
  ]);
  const GAS_MONITOR_TARGETS = `base=http://a.example|${ADDRESS}, gnosis=http://b.example/s3cret|${ADDRESS}|${ADDRESS}`;
  expect(parseSettings('gas-monitor', { GAS_MONITOR_TARGETS }).gasTargets).toEqual([
    { name: 'base', rpcUrl: 'http://a.example', addresses: [ADDRESS] },
    { name: 'gnosis', rpcUrl: 'http://b.example/s3cret', addresses: [ADDRESS, ADDRESS] },
  ]);
});

test('every setting that holds a secret is taken out of what is printed', () => {
  const all = Object.entries({ ...gasMonitorSettings, ...paymentsSettings });
  const SECRETS = all.flatMap(([name, { isSecret }]) => (isSecret ? [name] : []));
  expect(SECRETS).toHaveLength(11);
  const secrets = Object.fromEntries(
    SECRETS.map((name) => [
      name,
      /URL$/.test(name) ? `https://h.example/${name}` : `s3cret of ${name}, of 32 characters`,
    ]),
  );
  const environment = {
    ...good,
    ...secrets,
    RELAYER_PRIVATE_KEY: KEY,
    PAYOUTS_DEPLOYER_PRIVATE_KEY: KEY,
    SMTP_URL: 'smtps://ops:s3cret@mail.example',
    GAS_MONITOR_TARGETS: `base=https://h.example/s3cret|${ADDRESS}`,
    ALERT_EMAIL_FROM: 'a@b.example',
    ALERT_EMAIL_TO: 'a@b.example',
  };
  const hidden = secretsOf(
    parseSettings('status', { ...environment, FRONTEND_URL: 'https://ada:s3cret-of-the-url@h.example' }),
  );
  expect(hidden).toContain('s3cret-of-the-url');
  for (const name of SECRETS.filter((secret) => secret !== 'GAS_MONITOR_TARGETS'))
    expect(hidden, name).toContain(environment[name as keyof typeof environment]);
  expect(hidden).toContain('https://h.example/s3cret');
});

const long = 'a secret of more than thirty-two characters';
const contracts = {
  EXCHANGE_ADDRESS: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
  STABLECOIN_ADDRESS: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
};

test.each<[string, Environment, string[]]>([
  ['plain http to a public frontend', { FRONTEND_URL: 'http://frontend.example' }, ['FRONTEND_URL']],
  ['plain http to a host with a private look', { FRONTEND_URL: 'http://10.0.0.1.evil.example' }, ['FRONTEND_URL']],
  ['plain http to a public address of IPv6', { FRONTEND_URL: 'http://[2001:db8::1]:3000' }, ['FRONTEND_URL']],
  ['plain http to a private address of IPv6', { FRONTEND_URL: 'http://[fd12:3456::1]:3000' }, []],
  ['plain http to this machine', { FRONTEND_URL: 'http://127.0.0.1:3000' }, []],
  ['plain http within a container network', { FRONTEND_URL: 'http://frontend:3000' }, []],
  ['a short secret', { RELAYER_SECRET: 'short' }, ['RELAYER_SECRET']],
  ['two contracts at one address', { STABLECOIN_ADDRESS: ADDRESS }, ['STABLECOIN_ADDRESS']],
  ['Payouts at the address of a token', { PAYOUTS_ADDRESS: ADDRESS }, ['PAYOUTS_ADDRESS']],
  ['all as it should be', {}, []],
])('in production: %s', (_, environment, names) => {
  const settings = { ...good, ...contracts, STAGE: 'prod', RELAYER_SECRET: long, ...environment };
  expect(faultyNames('payments', settings)).toEqual(names);
});

test('in production, a command that calls the frontend sends no secret in the clear either', () => {
  const settings = { ...good, STAGE: 'prod', FRONTEND_URL: 'http://frontend.example', RELAYER_SECRET: 'short' };
  expect(faultyNames('reconcile', settings)).toEqual(['FRONTEND_URL', 'RELAYER_SECRET']);
});
