import { createRequire } from 'node:module';

/** The part of the native library that the bench uses. */
export interface Secp256k1 {
  privateKeyVerify(privateKey: Uint8Array): boolean;
  publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array;
  /** Deterministic (RFC 6979) and low-`s`. */
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number };
  ecdsaRecover(signature: Uint8Array, recid: number, digest: Uint8Array, compressed: boolean): Uint8Array;
}

/**
 * Loads libsecp256k1's native binding.
 *
 * @returns the library
 * @throws Error where the package has no binary for this machine: its JavaScript fallback is no baseline
 */
export function loadSecp256k1(): Secp256k1 {
  const require = createRequire(import.meta.url);
  // The package ships no types; `bindings.js` is its native half, `index.js` would fall back to JavaScript in silence.
  return require('secp256k1/bindings.js') as Secp256k1;
}
