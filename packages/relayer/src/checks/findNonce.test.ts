import { createRecoverSigner } from '@prism-gateway/node/accounts';
import {
  createSignedParams,
  createTypedData,
  hashRequest,
  REQUEST_STRUCTS,
  type SignedAction,
  type UnsignedParams,
} from '@prism-gateway/protocol/typed-data';
import { createParamsArbitraries } from '@prism-gateway/testing';
import fc from 'fast-check';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { createExecutionTest, createRequestHasher, findNonce, listSignedParts } from './findNonce.ts';

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

const context = { chainId: 5, forwarder: `0x${'22'.repeat(20)}` } as const;
const signer = `0x${'aB'.repeat(20)}` as const;
const word = (byte: string) => `0x${byte.repeat(32)}` as const;
const unsigned = { cloudId: word('01'), dataId: word('02'), payload: '0x03', relayerFee: '4', timestamp: '5' } as const;
const action = 'WRITE_DATA_FOR';

function isAbout(change: { payload?: `0x${string}` }, event: { nonce: bigint; signer?: `0x${string}` }): boolean {
  // Whatever the signature is made of, it says nothing.
  const signature = `0x${'11'.repeat(64)}1b` as const;
  const params = createSignedParams({ action, params: unsigned, signer, signature });
  const [part] = listSignedParts({ action, params });
  const digest = hashRequest({ action, params: { ...unsigned, ...change }, nonce: 7n, ...context });
  // A write has one signature.
  return createExecutionTest(context, part!)({ digest, signer, ...event });
}

// Shows CHAIN-12, RELAY-5.
test('an event is about a request if signer and digest are its own', () => {
  expect(isAbout({}, { nonce: 7n })).toBe(true);
  expect(isAbout({}, { nonce: 8n })).toBe(false);
  expect(isAbout({ payload: '0x04' }, { nonce: 7n })).toBe(false);
  expect(isAbout({}, { nonce: 7n, signer: context.forwarder })).toBe(false);
});

const nonceArbitrary = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
// The keys of the structs are the actions that are signed.
const actions = Object.keys(REQUEST_STRUCTS) as SignedAction[];

test.each(actions)('digests are those of EIP-712, with any nonce: %s', (action) => {
  fc.assert(
    fc.property(createParamsArbitraries()[action], nonceArbitrary, (given, nonce) => {
      // Made for this action.
      const source = {
        action,
        params: given as UnsignedParams,
        ...place,
        forwarder: place.forwarder.toUpperCase().replace('0X', '0x'),
      };
      const hashWith = createRequestHasher(source);
      expect(hashWith(nonce)).toBe(hashRequest({ ...source, nonce }));
      expect(hashWith(0n)).toBe(hashRequest({ ...source, nonce: 0n }));
    }),
    { numRuns: 10 },
  );
});
