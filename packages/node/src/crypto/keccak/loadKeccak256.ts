import { createKeccak } from 'hash-wasm';

/** Hashes bytes; the result is 32 bytes of its own memory. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array;

const HASH_BITS = 256;

/**
 * Loads keccak-256 compiled to wasm, 15 times as fast as JavaScript.
 *
 * @see https://keccak.team/files/Keccak-reference-3.0.pdf
 */
export async function loadKeccak256(): Promise<Keccak256> {
  const hasher = await createKeccak(HASH_BITS);
  return (bytes) => hasher.init().update(bytes).digest('binary');
}
