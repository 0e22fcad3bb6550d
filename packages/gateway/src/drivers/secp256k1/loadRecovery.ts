import { loadNativeRecovery } from './loadNativeRecovery.ts';
import { loadWasmRecovery } from './loadWasmRecovery.ts';
import type { RecoverPublicKey } from './recoverPublicKey.ts';

/** Loads recovery: native where there is a build for the platform, wasm elsewhere. */
export async function loadRecovery(): Promise<{
  readonly recoverPublicKey: RecoverPublicKey;
  /** Which build of libsecp256k1 recovers. */
  readonly build: 'native' | 'wasm';
}> {
  try {
    return { recoverPublicKey: await loadNativeRecovery(), build: 'native' };
  } catch {
    return { recoverPublicKey: await loadWasmRecovery(), build: 'wasm' };
  }
}
