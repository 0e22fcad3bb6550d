import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { DEVELOPMENT_KEYS } from '../../scripts/developmentKeys.ts';
import { createTypedData, hashRequest } from './createTypedData.ts';

const location = { chainId: 31337, forwarder: '0x5fbdb2315678afecb367f032d93f642f64180aa3' };
const fee = { relayerFee: '10', timestamp: '1767225600' };
const write = { cloudId: '0xc1', dataId: '0x0D', payload: '0xAB', ...fee };
const source = { action: 'WRITE_DATA_FOR', params: write, nonce: 7n, ...location } as const;

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

test('an id longer than 32 bytes is refused, not cut', () => {
  const params = { ...write, cloudId: `0x${'c1'.repeat(33)}` };
  expect(() => createTypedData({ ...source, params })).toThrow(/32/);
});
