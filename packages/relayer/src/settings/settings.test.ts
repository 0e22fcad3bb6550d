import { SettingsError } from '@prism-gateway/node/settings';
import { expect, test } from 'vitest';
import { journalPath, parseSettings } from './settings.ts';

const key = `0x${'11'.repeat(32)}`;
const forwarder = `0x${'aB'.repeat(20)}`;
const one = {
  RELAYER_PRIVATE_KEY: key,
  CHAIN_NAME: 'eip155:31337',
  RPC_URL: 'http://127.0.0.1:8545',
  FORWARDER_ADDRESS: forwarder,
  CREDITS_PER_ETH: '3000000',
};

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    parseSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
  return [];
}

test('one chain needs few settings', () => {
  const { chains, policy, gatewayUrl } = parseSettings(one);
  expect(gatewayUrl).toBe('http://127.0.0.1:8787');
  expect(policy.actions.size).toBe(12);
  expect(chains).toEqual([
    {
      chainName: 'eip155:31337',
      rpcUrls: ['http://127.0.0.1:8545'],
      forwarder: forwarder.toLowerCase(),
      chainId: 31_337,
      fromBlock: 0n,
      creditsPerEth: 3_000_000n * 10n ** 18n,
      maxFeePerGas: 100n * 10n ** 9n,
      maxInFlight: 128,
      maxBatchSize: 50,
      confirmations: undefined,
    },
  ]);
});

test('several chains take what they do not say from the general settings', () => {
  const RELAYER_CHAINS = JSON.stringify([
    {
      chainName: 'a',
      rpcUrl: 'https://a.example',
      forwarder,
      creditsPerEth: '0.5',
      maxFeeGwei: 1.5,
      confirmations: 12,
    },
    { chainName: 'b', rpcUrl: 'https://b.example', forwarder, chainId: 10, maxInFlight: 7, fromBlock: 99 },
  ]);
  const { chains } = parseSettings({
    RELAYER_PRIVATE_KEY: key,
    RELAYER_CHAINS,
    CREDITS_PER_ETH: '2',
    CONFIRMATIONS: '5',
  });
  const of = (index: number) => {
    const { creditsPerEth, maxFeePerGas, confirmations, maxInFlight, chainId, fromBlock } = chains[index] ?? {};
    return [creditsPerEth, maxFeePerGas, confirmations, maxInFlight, chainId, fromBlock];
  };
  expect(of(0)).toEqual([5n * 10n ** 17n, 1_500_000_000n, 12, 128, undefined, 0n]);
  expect(of(1)).toEqual([2n * 10n ** 18n, 100n * 10n ** 9n, 5, 7, 10, 99n]);
});

test('every fault is named at once, and no value', () => {
  const faults = faultsOf({
    RELAYER_PRIVATE_KEY: 'secret-key',
    RELAYER_CHAINS: '[{"chainName":"a","rpcUrl":"https://user:secret@a.example","forwarder":"secret","spare":1}]',
    RPC_URL: 'secret-url',
    MAX_FEE_GWEI: '-1',
    ACTIONS: 'WRITE_DATA_FOR,SECRET',
    METRICS_PORT: 'secret',
    POLL_MIN_MS: '1',
  });
  const names = faults.map((fault) => fault.split(':')[0]);
  expect(names.toSorted()).toEqual(
    [
      ...['ACTIONS', 'MAX_FEE_GWEI', 'METRICS_PORT', 'POLL_MIN_MS', 'RELAYER_CHAINS[0].forwarder', 'RELAYER_CHAINS[0]'],
      ...['RELAYER_PRIVATE_KEY', 'RPC_URL', 'RPC_URL[0]'],
    ].toSorted(),
  );
  expect(faults.join('\n')).not.toMatch(/secret/i);
});

test.each([
  [{}, ['CHAIN_NAME', 'CREDITS_PER_ETH', 'FORWARDER_ADDRESS', 'RELAYER_PRIVATE_KEY', 'RPC_URL']],
  [{ ...one, RELAYER_KEYSTORE: 'key.json' }, ['RELAYER_KEYSTORE']],
  [{ ...one, RELAYER_PRIVATE_KEY: '', RELAYER_KEYSTORE: 'key.json' }, ['RELAYER_KEYSTORE_PASSWORD']],
  [{ ...one, CREDITS_PER_ETH: '0' }, ['CREDITS_PER_ETH']],
  [{ ...one, RELAYER_CHAINS: '{' }, ['CHAIN_NAME', 'FORWARDER_ADDRESS', 'RELAYER_CHAINS', 'RPC_URL']],
  [{ ...one, POLL_MIN_MS: '500', POLL_MAX_MS: '100' }, ['POLL_MIN_MS']],
])('what is missing or does not go together: %#', (environment, names) => {
  expect(
    faultsOf(environment as Record<string, string>)
      .map((fault) => fault.split(':')[0])
      .toSorted(),
  ).toEqual(names);
});

test('the same chain twice is a fault', () => {
  const chain = { chainName: 'a', rpcUrl: 'https://a.example', forwarder };
  const RELAYER_CHAINS = JSON.stringify([chain, chain]);
  expect(faultsOf({ RELAYER_PRIVATE_KEY: key, RELAYER_CHAINS, CREDITS_PER_ETH: '1' })).toEqual([
    'RELAYER_CHAINS: expected each chainName once',
  ]);
});

test('locks on keys are in the data folder, unless relayers with folders of their own share another', () => {
  expect(parseSettings({ ...one, DATA_DIR: 'a' }).lockDir).toBe('a');
  expect(parseSettings({ ...one, DATA_DIR: 'a', LOCK_DIR: 'b' }).lockDir).toBe('b');
});

test('a journal belongs to one key on one chain', () => {
  expect(journalPath({ dataDir: 'd', kind: 'relayer', address: '0xAB', chainId: 5 })).toBe('d/relayer-5-0xab.db');
});
