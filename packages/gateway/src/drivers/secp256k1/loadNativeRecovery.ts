import type { RecoverPublicKey } from './recoverPublicKey.ts';

/**
 * Loads recovery on libsecp256k1 compiled for this platform.
 *
 * @throws Error where the package has no build for the platform; its pure JavaScript is never taken
 */
export async function loadNativeRecovery(): Promise<RecoverPublicKey> {
  const { default: secp256k1 } = await import('secp256k1/bindings.js');
  return function recoverPublicKey(digest, signature, recovery) {
    try {
      return secp256k1.ecdsaRecover(signature, recovery, digest, false).subarray(1);
    } catch {
      // r or s out of range, or no point there: no key made this.
      return undefined;
    }
  };
}
