import { randomBytes } from 'node:crypto';
import type { Secp256k1 } from '../signing/loadSecp256k1.ts';

/**
 * Measures the native library alone on one core: recoveries of public keys from distinct signatures, one after another.
 *
 * @param secp256k1 the library
 * @param count how many
 * @returns recoveries a second; the signing before is not counted
 */
export function measureRecoveries(secp256k1: Secp256k1, count: number): number {
  const privateKey = new Uint8Array(randomBytes(32));
  const signed = Array.from({ length: count }, () => {
    const digest = new Uint8Array(randomBytes(32));
    return { digest, ...secp256k1.ecdsaSign(digest, privateKey) };
  });
  const startedAt = performance.now();
  for (const { digest, signature, recid } of signed) secp256k1.ecdsaRecover(signature, recid, digest, false);
  return (count / (performance.now() - startedAt)) * 1000;
}
