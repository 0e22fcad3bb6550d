import type { RecoverPublicKey } from './recoverPublicKey.ts';

/** Loads recovery on libsecp256k1 compiled to wasm: a quarter of the native speed, on every platform. */
export async function loadWasmRecovery(): Promise<RecoverPublicKey> {
  const { recover } = await import('tiny-secp256k1');
  return function recoverPublicKey(digest, signature, recovery) {
    try {
      return recover(digest, signature, recovery === 0 ? 0 : 1, false)?.subarray(1);
    } catch {
      // r or s out of range: no key made this.
      return undefined;
    }
  };
}
