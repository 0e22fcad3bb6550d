import { expect, test } from 'vitest';
import { isPublicAddress, namesPrivateAddress } from './publicAddress.ts';

// Shows WEBHOOK-3.
test.each([
  ...[
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.0.1',
    '100.128.0.1',
    '192.167.1.1',
  ],
  ...['2606:4700:4700::1111', '2a00:1450:4001:80e::200e', '2001:4860:4860::8888'],
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

// Shows WEBHOOK-3.
test.each([
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1'],
  ...['172.31.255.255', '192.0.0.8', '192.168.1.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...[
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
  ],
  ...['ff02::1', '64:ff9b::7f00:1', '64:ff9b:1::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', 'fec0::1'],
  ...['', 'localhost', '127.1', '0x7f000001', '8.8.8.8.'],
])('%s is not', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  ...[
    'http://127.1',
    'http://2130706433',
    'http://0x7f.1',
    'http://[::1]',
    'http://[::ffff:10.0.0.1]',
    'http://017700000001',
  ],
  ...['http://localhost', 'http://LOCALHOST.', 'http://a.localhost', 'http://①②⑦.0.0.1', 'http://169.254.169.254'],
])('%s leads here', (url) => {
  expect(namesPrivateAddress(new URL(url).hostname)).toBe(true);
});

test.each([
  'https://example.org',
  'https://1.1.1.1',
  'https://[2606:4700:4700::1111]',
  'https://localhost.example.org',
])('%s does not', (url) => {
  expect(namesPrivateAddress(new URL(url).hostname)).toBe(false);
});
