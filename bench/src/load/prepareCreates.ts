import { createKeyPair } from '../signing/createKeyPair.ts';
import { createSignedBodyMaker } from '../signing/createSignedBodyMaker.ts';
import { createWriteDataSigner } from '../signing/createWriteDataSigner.ts';
import type { SigningCrypto } from '../signing/loadSigningCrypto.ts';
import { writeHttp } from './writeHttp.ts';

/** Users whose requests the bench plays. */
const signerCount = 64;

/**
 * Prepares creations, each with an EIP-712 signature of its own.
 *
 * @param crypto the curve and the hash
 * @param count how many
 * @returns the calls
 */
export function prepareCreates(crypto: SigningCrypto, count: number): Buffer[] {
  const signers = Array.from({ length: signerCount }, () => createKeyPair(crypto));
  const makeBody = createSignedBodyMaker(createWriteDataSigner(crypto));
  return Array.from({ length: count }, (_, i) => {
    // `i % signerCount` is an index of the list.
    const body = makeBody(signers[i % signerCount]!, i);
    return writeHttp({ method: 'POST', target: '/requests', body });
  });
}
