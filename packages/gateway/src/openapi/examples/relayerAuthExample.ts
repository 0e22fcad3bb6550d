import { createRelayerAuthMessage } from '@prism-gateway/protocol';

const call = {
  timestamp: '1767225600000',
  method: 'PATCH',
  path: '/requests/0197c2a4-5b1e-7c3d-8f60-0242ac120002',
  bodyHash: '0x1f73c6f9734311b04d4692b14a99a883e6a39e6d086dc33269885ca1dae2c33e',
};

/**
 * One call of a relayer with everything that goes into its signature: the vector "a claim by another relayer" of the
 * protocol's vectors, signed by the second account of the well-known development mnemonic.
 *
 * @see packages/protocol/vectors/relayer-auth.json
 */
export const RELAYER_AUTH_EXAMPLE = {
  ...call,
  body: '{"status":"processing"}',
  message: createRelayerAuthMessage(call),
  digest: '0x4e0b649f2d4e23ba23ae7580ef92a4440d12464efb5909e37a199814cf77e49a',
  address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  signature:
    '0x6700d9e484832e7525ccd2c3d52bab28effad07e73a7261c7bb343a134adb5bd0110f61ecee3596f9a245f997016903f1fce01a4ca60bdb816b1f54ec566a3f31c',
} as const;
