import {
  hashRequest,
  REQUEST_STRUCTS,
  type SignedAction,
  type UnsignedParams,
} from '@prism-gateway/protocol/typed-data';
import { createParamsArbitraries } from '@prism-gateway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRequestHasher } from './findNonce.ts';

const place = { chainId: 31_337, forwarder: `0x${'F0'.repeat(20)}` };
const nonceArbitrary = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
// The keys of the structs are the actions that are signed.
const actions = Object.keys(REQUEST_STRUCTS) as SignedAction[];

test.each(actions)('digests are those of EIP-712, with any nonce: %s', (action) => {
  fc.assert(
    fc.property(createParamsArbitraries()[action], nonceArbitrary, (given, nonce) => {
      // Made for this action.
      const source = { action, params: given as UnsignedParams, ...place };
      const hashWith = createRequestHasher(source);
      expect(hashWith(nonce)).toBe(hashRequest({ ...source, nonce }));
      expect(hashWith(0n)).toBe(hashRequest({ ...source, nonce: 0n }));
    }),
    { numRuns: 10 },
  );
});
