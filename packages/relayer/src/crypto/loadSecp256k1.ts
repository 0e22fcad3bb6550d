import { createRequire } from 'node:module';

/** What of libsecp256k1 the relayer uses. */
export interface Secp256k1 {
  /** @throws Error when `r` or `s` is out of range or no point can be recovered */
  ecdsaRecover(signature: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array;
  /** Low `s`, and a nonce by RFC 6979. */
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { readonly signature: Uint8Array; readonly recid: number };
}

/**
 * Loads libsecp256k1 compiled for this platform: ten times as fast as JavaScript, which would be most of what a relayer computes.
 *
 * @returns undefined where the package has no build for the platform
 * @see https://github.com/bitcoin-core/secp256k1
 */
export function loadSecp256k1(): Secp256k1 | undefined {
  try {
    // The package's own entry falls back to JavaScript; this is the native addon alone.
    return createRequire(import.meta.url)('secp256k1/bindings.js') as Secp256k1;
  } catch {
    return undefined;
  }
}
