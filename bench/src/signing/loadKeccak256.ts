import { createKeccak } from 'hash-wasm';

/** Keccak-256 of bytes, or of a text's UTF-8. */
export type Keccak256 = (data: Uint8Array | string) => Uint8Array;

/**
 * Loads keccak-256.
 *
 * @returns the hash function
 */
export async function loadKeccak256(): Promise<Keccak256> {
  const hasher = await createKeccak(256);
  return (data) => hasher.init().update(data).digest('binary');
}
