import type { Keccak256 } from './loadKeccak256.ts';

/**
 * Hashes a body as the relayer's auth message names it.
 *
 * @param keccak256 the hash
 * @param body the body's text
 * @returns `0x` and 64 lower-case hex digits
 * @see docs/specification.md AUTH-4
 */
export function hashBody(keccak256: Keccak256, body: string): string {
  return `0x${Buffer.from(keccak256(body)).toString('hex')}`;
}
