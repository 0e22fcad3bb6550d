import type { RequestCrypto } from '../../ports/requestCrypto.ts';
import { loadKeccak256 } from './loadKeccak256.ts';
import { loadRecovery } from './loadRecovery.ts';
import type { RecoverPublicKey } from './recoverPublicKey.ts';

export interface LoadedCrypto extends RequestCrypto {
  readonly recoverPublicKey: RecoverPublicKey;
  /** Which build of libsecp256k1 recovers. */
  readonly build: 'native' | 'wasm';
}

/** Loads the primitives of relayer auth: native where there is a build for the platform, wasm elsewhere. */
export async function loadRequestCrypto(): Promise<LoadedCrypto> {
  return { keccak256: await loadKeccak256(), ...(await loadRecovery()) };
}
