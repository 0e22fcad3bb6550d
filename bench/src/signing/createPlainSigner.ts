import type { DigestSigner } from './digestSigner.ts';
import type { Secp256k1 } from './loadSecp256k1.ts';

/**
 * Makes a signer that lets the library do all of it.
 *
 * @param secp256k1 the library
 * @returns the signer
 */
export function createPlainSigner(secp256k1: Secp256k1): DigestSigner {
  return (digest, privateKey) => {
    const { signature, recid } = secp256k1.ecdsaSign(digest, privateKey);
    return {
      hex: Buffer.from(signature.buffer, signature.byteOffset, 64).toString('hex'),
      recovery: recid === 0 ? 0 : 1,
    };
  };
}
