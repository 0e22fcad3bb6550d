import { randomBytes } from 'node:crypto';
import type { KeyPair } from './createKeyPair.ts';
import type { WriteDataSigner } from './createWriteDataSigner.ts';
import { payloadBytes, relayerFee, writeRequestBody } from './writeRequestBody.ts';

/** Makes the JSON body of one `POST /requests`, different each time. */
export type RequestBodyMaker = (signer: KeyPair, nonce: number) => string;

/**
 * Prepares bodies that hold a real EIP-712 signature each.
 *
 * @param signWriteData signs one wish
 * @returns a function that makes one body
 */
export function createSignedBodyMaker(signWriteData: WriteDataSigner): RequestBodyMaker {
  return (signer, nonce) => {
    const random = randomBytes(64 + payloadBytes).toString('hex');
    const cloudId = random.slice(0, 64);
    const dataId = random.slice(64, 128);
    const payload = random.slice(128);
    const timestamp = Math.floor(Date.now() / 1000);
    const { v, r, s } = signWriteData(signer, { cloudId, dataId, payload, relayerFee, timestamp, nonce });
    return writeRequestBody({ signer: signer.address, cloudId, dataId, payload, timestamp, v, r, s });
  };
}
