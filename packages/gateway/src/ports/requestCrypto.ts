import type { Awaitable } from './awaitable.ts';

/**
 * Port: the two primitives of relayer auth, native or wasm.
 *
 * @see https://eips.ethereum.org/EIPS/eip-191
 */
export interface RequestCrypto {
  /** @returns 32 bytes */
  keccak256(bytes: Uint8Array): Uint8Array;
  /**
   * Recovers the public key that made an ECDSA signature on secp256k1.
   *
   * @param digest - 32 bytes
   * @param signature - `r` and `s`, 64 bytes
   * @param recovery - 0 or 1
   * @returns the uncompressed point without its prefix, 64 bytes, or undefined if there is none
   */
  recoverPublicKey(digest: Uint8Array, signature: Uint8Array, recovery: number): Awaitable<Uint8Array | undefined>;
}
