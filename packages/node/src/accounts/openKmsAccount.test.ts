import { startKmsServer } from '@prism-gateway/testing/keys';
import {
  type Hex,
  hexToBytes,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerialized,
  verifyMessage,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openAccount } from './openAccount.ts';
import { parseDerSignature } from './openKmsAccount.ts';

const KEY = `0x${'4c'.repeat(32)}` as const;
const KEY_ID = 'alias/relayer';

beforeEach(() => {
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
});
afterEach(() => vi.unstubAllEnvs());

// Shows KEY-1.
test('a key in KMS signs messages and transactions with a low s, whichever it gives', async () => {
  await using kms = await startKmsServer(KEY_ID, KEY);
  vi.stubEnv('AWS_ENDPOINT_URL_KMS', kms.url);
  const account = await openAccount({ privateKey: `kms:${KEY_ID}` });
  expect(account.address).toBe(privateKeyToAccount(KEY).address);
  const transaction = { type: 'eip1559', chainId: 1, nonce: 7, gas: 21_000n, maxFeePerGas: 9n } as const;
  for (let round = 0; round < 4; round += 1) {
    const message = `round ${round}`;
    const signature = await account.signMessage({ message });
    expect(await verifyMessage({ address: account.address, message, signature })).toBe(true);
    const serializedTransaction = (await account.signTransaction({
      ...transaction,
      nonce: round,
    })) as TransactionSerialized;
    expect(await recoverTransactionAddress({ serializedTransaction })).toBe(account.address);
    expect(BigInt(parseTransaction(serializedTransaction).s as Hex)).toBeLessThan(2n ** 255n);
  }
  expect(new Set(kms.signatures.map((s) => BigInt(s) > 2n ** 255n))).toEqual(new Set([true, false]));
  kms.refuse();
  await expect(account.signMessage({ message: 'x' })).rejects.toMatchObject({ code: 'KMS_FAILED' });
});

// Shows KEY-1.
test('a key that KMS does not know, and a signature that is no DER, are reported', async () => {
  await using kms = await startKmsServer(KEY_ID, KEY);
  vi.stubEnv('AWS_ENDPOINT_URL_KMS', kms.url);
  await expect(openAccount({ privateKey: 'kms:alias/other' })).rejects.toMatchObject({ code: 'KMS_FAILED' });
  const broken = [
    '0x',
    '0x3006020101020101ff',
    '0x3006020100020101',
    '0x3006020101030101',
    '0x300602010102ff01',
  ] as const;
  for (const der of broken) expect(() => parseDerSignature(hexToBytes(der))).toThrow('no DER');
  expect(parseDerSignature(hexToBytes('0x3006020101020102'))).toEqual({ r: 1n, s: 2n });
});
