import { createRecoverSigner } from '@prism-gateway/crypto/accounts';
import { createSignedParams, createTypedData } from '@prism-gateway/protocol/typed-data';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { findNonce, listSignedParts } from './findNonce.ts';

const account = privateKeyToAccount(`0x${'22'.repeat(32)}`);
const place = { chainId: 31_337, forwarder: `0x${'f0'.repeat(20)}` } as const;
const recoverSigner = createRecoverSigner();

async function sign(nonce: bigint) {
  const params = { cloudId: '0xc1', dataId: '0x0d', payload: '0xab', relayerFee: '1', timestamp: '5' };
  const action = 'WRITE_DATA_FOR';
  const signature = await account.signTypedData(createTypedData({ action, params, nonce, ...place }));
  return createSignedParams({ action, params, signer: account.address, signature });
}

async function find(nonce: bigint, current: bigint) {
  const [part] = listSignedParts({ action: 'WRITE_DATA_FOR', params: await sign(nonce) });
  // One signature.
  return await findNonce({ part: part!, current, ...place, recoverSigner });
}

test.each([
  ['the next one', 7n, 7n],
  ['ahead', 70n, 7n],
  ['behind', 3n, 7n],
])('the nonce is found: %s', async (_, nonce, current) => {
  expect(await find(nonce, current)).toBe(nonce);
});

test('far off, or altered, no nonce is found', async () => {
  expect(await find(500n, 7n)).toBeUndefined();
  const [part] = listSignedParts({ action: 'MODIFY_DATA_FOR', params: await sign(7n) });
  expect(await findNonce({ part: part!, current: 7n, ...place, recoverSigner })).toBeUndefined();
  const [bad] = listSignedParts({ action: 'WRITE_DATA_FOR', params: { ...(await sign(7n)), v: 99 } });
  expect(await findNonce({ part: bad!, current: 7n, ...place, recoverSigner })).toBeUndefined();
});

test('a batch of many users has a signature an entry', async () => {
  const entries = [await sign(1n), await sign(2n)];
  const params = { ...(await sign(0n)), requests: entries };
  const parts = listSignedParts({ action: 'BATCH_MULTI_USER_WRITE_DATA', params });
  expect(parts.map(({ r }) => r)).toEqual(entries.map(({ r }) => r));
});
