import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { DEVELOPMENT_KEYS } from '../../scripts/developmentKeys.ts';
import { createRequestParser } from '../requests/create.ts';
import { createTypedData } from './createTypedData.ts';
import { recoverRequestSigner } from './recoverRequestSigner.ts';
import { createSignedParams } from './signature.ts';

const account = privateKeyToAccount(DEVELOPMENT_KEYS[0]);
const location = { chainId: 31337, forwarder: '0x5FbDB2315678afecb367f032d93F642f64180aa3', nonce: 3n };
const action = 'MODIFY_DATA_FOR';
const unsigned = { cloudId: '0xc1', dataId: '0x0d', payload: '0xab', relayerFee: '1', timestamp: '1767225600' };

async function signParams() {
  const signature = await account.signTypedData(createTypedData({ action, params: unsigned, ...location }));
  return createSignedParams({ action, params: unsigned, signer: account.address, signature });
}

test('signed params hold the unsigned ones, the signer and the signature, ready to post', async () => {
  const params = await signParams();
  expect(params).toEqual({
    ...unsigned,
    signer: account.address,
    v: expect.toBeOneOf([27, 28]),
    r: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    s: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  });
  const parsed = createRequestParser({ maxBatchSize: 100 })({ chainName: 'local', action, params });
  expect(parsed).toHaveProperty('value');
});

test('the signer is recovered from signed params', async () => {
  const params = await signParams();
  expect(await recoverRequestSigner({ action, params, ...location })).toBe(account.address);
});

test('anything altered gives another signer', async () => {
  const params = await signParams();
  const altered = [
    { action: 'WRITE_DATA_FOR', params, ...location },
    { action, params, ...location, nonce: 4n },
    { action, params, ...location, chainId: 1 },
    { action, params, ...location, forwarder: account.address },
    ...Object.keys(unsigned).map((field) => {
      // Every field of these params takes a text like "0x77" or "77".
      const value = field === 'relayerFee' || field === 'timestamp' ? '77' : '0x77';
      return { action, params: { ...params, [field]: value }, ...location } as const;
    }),
    { action, params: { ...params, v: params.v === 27 ? 28 : 27 }, ...location },
  ] as const;
  for (const each of altered) expect(await recoverRequestSigner(each)).not.toBe(account.address);
});

test('a recovery value that no curve has is an error, not a signer', async () => {
  const params = { ...(await signParams()), v: 200 };
  await expect(recoverRequestSigner({ action, params, ...location })).rejects.toThrow();
});
