import type { RequestCrypto } from '../../ports/requestCrypto.ts';
import { loadKeccak256 } from './loadKeccak256.ts';
import { loadNativeRecovery } from './loadNativeRecovery.ts';
import { loadWasmRecovery } from './loadWasmRecovery.ts';

export interface LoadedCrypto extends RequestCrypto {
  /** Which build of libsecp256k1 recovers. */
  readonly build: 'native' | 'wasm';
}

/** Loads the primitives of relayer auth: native where there is a build for the platform, wasm elsewhere. */
export async function loadRequestCrypto(): Promise<LoadedCrypto> {
  const keccak256 = await loadKeccak256();
  try {
    return { keccak256, recoverPublicKey: await loadNativeRecovery(), build: 'native' };
  } catch {
    return { keccak256, recoverPublicKey: await loadWasmRecovery(), build: 'wasm' };
  }
}
