import { randomBytes } from 'node:crypto';
import type { SigningCrypto } from './loadSigningCrypto.ts';

/** A throwaway key and the address it speaks for. */
export interface KeyPair {
  /** 32 bytes. */
  readonly privateKey: Uint8Array;
  /** `0x` and 40 lower-case hex digits. */
  readonly address: string;
}

/**
 * Makes a random key pair.
 *
 * @param crypto the library and the hash
 * @returns the pair
 */
export function createKeyPair(crypto: SigningCrypto): KeyPair {
  for (;;) {
    const privateKey = new Uint8Array(randomBytes(32));
    if (!crypto.secp256k1.privateKeyVerify(privateKey)) continue;
    const publicKey = crypto.secp256k1.publicKeyCreate(privateKey, false);
    // The first byte says "uncompressed" and is no part of what an address is the hash of.
    const digest = Buffer.from(crypto.keccak256(publicKey.subarray(1)));
    return { privateKey, address: `0x${digest.toString('hex', 12)}` };
  }
}
