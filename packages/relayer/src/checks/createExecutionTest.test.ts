import { createSignedParams, hashRequest } from '@prism-gateway/protocol/typed-data';
import { expect, test } from 'vitest';
import { createExecutionTest, listSignedParts } from './findNonce.ts';

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
