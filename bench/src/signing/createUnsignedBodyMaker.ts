import { randomBytes } from 'node:crypto';
import type { RequestBodyMaker } from './createSignedBodyMaker.ts';
import { payloadBytes, writeRequestBody } from './writeRequestBody.ts';

/**
 * Prepares bodies whose `r` and `s` are random: for filling a backlog, where the signing would take longer than the storing.
 *
 * @param chainName absent: that of all other requests of the bench
 * @returns a function that makes one body
 */
export function createUnsignedBodyMaker(chainName?: string): RequestBodyMaker {
  return (signer) => {
    const random = randomBytes(128 + payloadBytes).toString('hex');
    return writeRequestBody({
      signer: signer.address,
      cloudId: random.slice(0, 64),
      dataId: random.slice(64, 128),
      r: random.slice(128, 192),
      s: random.slice(192, 256),
      v: 27,
      payload: random.slice(256),
      timestamp: Math.floor(Date.now() / 1000),
      ...(chainName !== undefined && { chainName }),
    });
  };
}
