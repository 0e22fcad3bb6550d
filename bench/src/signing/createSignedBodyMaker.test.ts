import { createRequestParser } from '@prism-gateway/protocol';
import { recoverTypedDataAddress } from 'viem';
import { expect, test } from 'vitest';
import { createKeyPair } from './createKeyPair.ts';
import { createSignedBodyMaker } from './createSignedBodyMaker.ts';
import { createUnsignedBodyMaker } from './createUnsignedBodyMaker.ts';
import { createWriteDataSigner, forwarderDomain } from './createWriteDataSigner.ts';
import { loadSigningCrypto } from './loadSigningCrypto.ts';

const parse = createRequestParser({ maxBatchSize: 100 });
const writeData = [
  { name: 'cloudId', type: 'bytes32' },
  { name: 'dataId', type: 'bytes32' },
  { name: 'payload', type: 'bytes' },
  { name: 'relayerFee', type: 'uint256' },
  { name: 'timestamp', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
] as const;

test('makes bodies that the protocol takes, signed by their signer as EIP-712 asks', async () => {
  const crypto = await loadSigningCrypto();
  const makeBody = createSignedBodyMaker(createWriteDataSigner(crypto));
  const signer = createKeyPair(crypto);
  for (let nonce = 0; nonce < 20; nonce += 1) {
    const body = JSON.parse(makeBody(signer, nonce));
    expect(parse(body)).toEqual({ value: body });
    const { v, r, s, ...fields } = body.params;
    const recovered = await recoverTypedDataAddress({
      domain: {
        name: 'Forwarder',
        version: '1',
        chainId: forwarderDomain.chainId,
        verifyingContract: `0x${forwarderDomain.verifyingContract}`,
      },
      types: { WriteData: writeData },
      primaryType: 'WriteData',
      message: {
        cloudId: fields.cloudId,
        dataId: fields.dataId,
        payload: fields.payload,
        relayerFee: BigInt(fields.relayerFee),
        timestamp: BigInt(fields.timestamp),
        nonce: BigInt(nonce),
      },
      signature: `${r}${s.slice(2)}${v.toString(16)}` as `0x${string}`,
    });
    expect(recovered.toLowerCase()).toBe(signer.address);
  }
});

test('makes bodies without a signature that the protocol takes too', async () => {
  const signer = createKeyPair(await loadSigningCrypto());
  const makeBody = createUnsignedBodyMaker();
  const bodies = [makeBody(signer, 0), makeBody(signer, 0)].map((text) => JSON.parse(text));
  for (const body of bodies) expect(parse(body)).toEqual({ value: body });
  expect(bodies[0].params.r).not.toBe(bodies[1].params.r);
});
