import { createRequire } from 'node:module';

/**
 * Recovers the public key that made a signature.
 *
 * @param digest - 32 bytes
 * @param signature - `r` and `s`, 64 bytes
 * @param recovery - 0 or 1
 * @returns 64 bytes, of its own memory; undefined when no key can have made the signature
 */
export type RecoverPublicKey = (digest: Uint8Array, signature: Uint8Array, recovery: number) => Uint8Array | undefined;

/** libsecp256k1, in the build that this machine has. */
export interface Secp256k1 {
  /** `native`, or `wasm` at a quarter of its speed if the package has no binary for the platform. */
  readonly build: 'native' | 'wasm';
  readonly recoverPublicKey: RecoverPublicKey;
  /**
   * Signs with a nonce by RFC 6979 and a low `s`.
   *
   * @param digest - 32 bytes
   * @param privateKey - 32 bytes
   * @returns `r` and `s`, 64 bytes, and the recovery value
   * @throws Error when the private key is none of the curve's
   */
  readonly sign: (
    digest: Uint8Array,
    privateKey: Uint8Array,
  ) => { readonly signature: Uint8Array; readonly recovery: number };
}

/** The functions that the package `secp256k1` binds. */
interface NativeBinding {
  ecdsaRecover(signature: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array;
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { readonly signature: Uint8Array; readonly recid: number };
}

const require = createRequire(import.meta.url);

/** The package's own entry falls back to JavaScript; this is the native addon alone. @throws Error when there is no build of it */
function loadNative(): Secp256k1 {
  const binding = require('secp256k1/bindings.js') as NativeBinding;
  return {
    build: 'native',
    recoverPublicKey(digest, signature, recovery) {
      try {
        return binding.ecdsaRecover(signature, recovery, digest, false).subarray(1);
      } catch {
        // r or s out of range, or no point there: no key made this.
        return undefined;
      }
    },
    sign(digest, privateKey) {
      const { signature, recid } = binding.ecdsaSign(digest, privateKey);
      return { signature, recovery: recid };
    },
  };
}

function loadWasm(): Secp256k1 {
  const { recover, signRecoverable } = require('tiny-secp256k1') as typeof import('tiny-secp256k1');
  return {
    build: 'wasm',
    recoverPublicKey(digest, signature, recovery) {
      try {
        return recover(digest, signature, recovery === 0 ? 0 : 1, false)?.subarray(1);
      } catch {
        // r or s out of range: no key made this.
        return undefined;
      }
    },
    sign(digest, privateKey) {
      const { signature, recoveryId } = signRecoverable(digest, privateKey);
      return { signature, recovery: recoveryId };
    },
  };
}

/**
 * Loads libsecp256k1: native if its package has a binary for the platform, compiled to wasm elsewhere.
 *
 * @param build - insists on one of the builds
 * @throws Error when the build that was insisted on is not there
 * @see https://github.com/bitcoin-core/secp256k1
 */
export function loadSecp256k1(build?: Secp256k1['build']): Secp256k1 {
  if (build === 'native') return loadNative();
  if (build === 'wasm') return loadWasm();
  try {
    return loadNative();
  } catch {
    return loadWasm();
  }
}
