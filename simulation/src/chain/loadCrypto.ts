import { type Keccak256, loadKeccak256, loadSecp256k1, type RecoverPublicKey } from '@prism-gateway/node/crypto';

/** The hash and the recovery of keys, as fast as the machine has them. */
export interface Crypto {
  readonly keccak256: Keccak256;
  readonly recover: RecoverPublicKey;
}

/** Loads them. */
export async function loadCrypto(): Promise<Crypto> {
  return { keccak256: await loadKeccak256(), recover: loadSecp256k1().recoverPublicKey };
}
