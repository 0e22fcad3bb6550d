import { createPlainSigner } from './createPlainSigner.ts';
import type { DigestSigner } from './digestSigner.ts';
import type { Keccak256 } from './loadKeccak256.ts';
import { loadKeccak256 } from './loadKeccak256.ts';
import type { Secp256k1 } from './loadSecp256k1.ts';
import { loadSecp256k1 } from './loadSecp256k1.ts';

/** The curve, the hash and the way of signing. */
export interface SigningCrypto {
  readonly secp256k1: Secp256k1;
  readonly keccak256: Keccak256;
  readonly signDigest: DigestSigner;
}

/**
 * Loads what signing needs.
 *
 * @returns the native curve library and the hash
 */
export async function loadSigningCrypto(): Promise<SigningCrypto> {
  const secp256k1 = loadSecp256k1();
  return { secp256k1, keccak256: await loadKeccak256(), signDigest: createPlainSigner(secp256k1) };
}
