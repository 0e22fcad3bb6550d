import { createKeccak } from 'hash-wasm';
import type { RequestCrypto } from '../../ports/requestCrypto.ts';

const HASH_BITS = 256;

/** Loads keccak-256, compiled to wasm. */
export async function loadKeccak256(): Promise<RequestCrypto['keccak256']> {
  const hasher = await createKeccak(HASH_BITS);
  return (bytes) => hasher.init().update(bytes).digest('binary');
}
