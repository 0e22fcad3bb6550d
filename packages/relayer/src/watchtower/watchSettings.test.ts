import { expect, test } from 'vitest';
import { parseWatchSettings } from './watchSettings.ts';

const base = {
  RELAYER_PRIVATE_KEY: `0x${'11'.repeat(32)}`,
  CHAIN_NAME: 'eip155:8453',
  RPC_URL: 'https://one.example,https://two.example',
  FORWARDER_ADDRESS: `0x${'AB'.repeat(20)}`,
};
const chain = { chainName: 'a', rpcUrl: 'http://127.0.0.1:1', forwarder: base.FORWARDER_ADDRESS };
const { RELAYER_PRIVATE_KEY } = base;

test('one chain, or several by their names', () => {
  expect(parseWatchSettings(base)).toMatchObject({
    gatewayUrl: 'http://127.0.0.1:8787',
    chains: [
      {
        ...{ chainName: 'eip155:8453', chainId: 8453, fromBlock: 0n, forwarder: `0x${'ab'.repeat(20)}` },
        rpcUrls: ['https://one.example', 'https://two.example'],
      },
    ],
    metricsPort: 9467,
  });
  const RELAYER_CHAINS = JSON.stringify([chain, { ...chain, chainName: 'b', fromBlock: 7, confirmations: 2 }]);
  expect(parseWatchSettings({ RELAYER_PRIVATE_KEY, RELAYER_CHAINS }).chains).toMatchObject([
    { chainName: 'a', fromBlock: 0n },
    { chainName: 'b', fromBlock: 7n, confirmations: 2 },
  ]);
});

test.each([
  ['nothing', {}, /RELAYER_PRIVATE_KEY[\s\S]*CHAIN_NAME: required, unless RELAYER_CHAINS names the chains/],
  ['both ways', { ...base, RELAYER_CHAINS: JSON.stringify([chain]) }, /RPC_URL: expected none beside RELAYER_CHAINS/],
  [
    'a chain twice',
    { RELAYER_PRIVATE_KEY, RELAYER_CHAINS: JSON.stringify([chain, chain]) },
    /RELAYER_CHAINS: expected each chainName once/,
  ],
  ['to act without a key', { ...base, ENFORCE: 'true' }, /ADMIN_API_KEY: required with ENFORCE=true/],
  [
    'to act with one node alone, named twice',
    { ...base, ENFORCE: 'true', ADMIN_API_KEY: 'k', RPC_URL: 'https://one.example,https://one.example' },
    /RPC_URL: expected two nodes of eip155:8453 with ENFORCE=true/,
  ],
  [
    'no port',
    { ...base, METRICS_PORT: '99999' },
    /METRICS_PORT: expected a port from 0 to 65535, 0 for any free one, or off/,
  ],
])('%s', (_, environment, message) => {
  expect(() => parseWatchSettings(environment)).toThrow(message);
});
