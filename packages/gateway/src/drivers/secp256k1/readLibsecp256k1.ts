import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The wasm inside its package. */
const WASM_FILE = '@bitauth/libauth/build/lib/bin/secp256k1/secp256k1.wasm';

/**
 * Reads libsecp256k1 as wasm. The Lambda bundle has the bytes inside it, and this function replaced by one that unpacks them.
 *
 * @throws Error if the package is not installed
 */
export function readLibsecp256k1(): Uint8Array<ArrayBuffer> {
  return readFileSync(createRequire(import.meta.url).resolve(WASM_FILE));
}
