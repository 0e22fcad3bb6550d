import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { DEVELOPMENT_KEYS } from '../../scripts/developmentKeys.ts';
import { createTypedData, hashRequest } from './createTypedData.ts';
import { createForwarderDomain, hashForwarderDomain } from './domain.ts';

const location = { chainId: 31337, forwarder: '0x5fbdb2315678afecb367f032d93f642f64180aa3' };
const fee = { relayerFee: '10', timestamp: '1767225600' };
const write = { cloudId: '0xc1', dataId: '0x0D', payload: '0xAB', ...fee };
const source = { action: 'WRITE_DATA_FOR', params: write, nonce: 7n, ...location } as const;

test('typed data carry the domain, one struct and its values', () => {
  expect(createTypedData(source)).toEqual({
    domain: {
      name: 'Forwarder',
      version: '1',
      chainId: 31337,
      verifyingContract: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    },
    types: {
      WriteData: [
        { name: 'cloudId', type: 'bytes32' },
        { name: 'dataId', type: 'bytes32' },
        { name: 'payload', type: 'bytes' },
        { name: 'relayerFee', type: 'uint256' },
        { name: 'timestamp', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
      ],
    },
    primaryType: 'WriteData',
    message: {
      cloudId: `0x${'0'.repeat(62)}c1`,
      dataId: `0x${'0'.repeat(62)}0D`,
      payload: '0xAB',
      relayerFee: 10n,
      timestamp: 1767225600n,
      nonce: 7n,
    },
  });
});

test('a viem account signs typed data as they stand', async () => {
  const account = privateKeyToAccount(DEVELOPMENT_KEYS[0]);
  expect(await account.signTypedData(createTypedData(source))).toBe(await account.sign({ hash: hashRequest(source) }));
});

describe('a creation', () => {
  const creation = { fundAmount: '5', salt: '0x2a', ...fee };
  const digestOf = (params: typeof creation & { relayerFundAmount?: string; permit?: object }) =>
    // A permit of any content: no struct holds it.
    hashRequest({ action: 'CREATE_PRISM_FOR', params: params as typeof creation, nonce: 0n, ...location });

  test('signs an absent relayerFundAmount as 0', () => {
    expect(digestOf(creation)).toBe(digestOf({ ...creation, relayerFundAmount: '0' }));
    expect(digestOf(creation)).not.toBe(digestOf({ ...creation, relayerFundAmount: '1' }));
  });

  test('does not sign its permit, which has a signature of its own', () => {
    expect(digestOf({ ...creation, permit: { deadline: '1' } })).toBe(digestOf(creation));
  });
});

test('an address counts whatever its letter case', () => {
  const transfer = (newOwner: string) =>
    hashRequest({
      action: 'TRANSFER_PRISM_FOR',
      params: { cloudId: '0x01', newOwner, ...fee },
      nonce: 0n,
      ...location,
    });
  const right = transfer('0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
  expect(transfer('0x70997970c51812dc3a010c7d01b50e0d17dc79c8')).toBe(right);
  expect(transfer('0x70997970C51812DC3A010C7D01B50E0D17DC79C8')).toBe(right);
  expect(transfer('0x70997970c51812DC3A010C7D01B50E0D17DC79C8')).toBe(right);
});

test('each of action, nonce, chain and Forwarder changes the digest', () => {
  const digests = [
    source,
    { ...source, action: 'MODIFY_DATA_FOR' },
    { ...source, nonce: 8n },
    { ...source, chainId: 1 },
    { ...source, forwarder: '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512' },
  ] as const;
  expect(new Set(digests.map((each) => hashRequest(each))).size).toBe(digests.length);
});

test('the domain separator is that of the domain', () => {
  expect(createForwarderDomain(location).verifyingContract).toBe('0x5FbDB2315678afecb367f032d93F642f64180aa3');
  expect(hashForwarderDomain(location)).toBe(
    hashForwarderDomain({ ...location, forwarder: location.forwarder.toUpperCase().replace('X', 'x') }),
  );
  expect(hashForwarderDomain(location)).not.toBe(hashForwarderDomain({ ...location, chainId: 1 }));
});

test('an id longer than 32 bytes is refused, not cut', () => {
  const params = { ...write, cloudId: `0x${'c1'.repeat(33)}` };
  expect(() => createTypedData({ ...source, params })).toThrow(/32/);
});
