import {
  CompressionFlag,
  ContextFlag,
  instantiateSecp256k1WasmBytes,
  type Secp256k1Wasm,
} from '@bitauth/libauth/build/lib/bin/secp256k1/secp256k1-wasm.js';
import type { RecoverPublicKey } from '@prism-gateway/node/crypto';
import { readLibsecp256k1 } from './readLibsecp256k1.ts';

/** Sizes in bytes, of the wire's forms and of the library's own, which it keeps opaque. */
const SIGNATURE_BYTES = 64;
const PARSED_SIGNATURE_BYTES = 65;
const DIGEST_BYTES = 32;
const PARSED_KEY_BYTES = 64;
const KEY_BYTES = 65;

/** Makes the library's context, which computes a table for some milliseconds, and the places that calls go by. */
function createRecover(library: Secp256k1Wasm): RecoverPublicKey {
  // It can only verify, so that the table for signing is never read.
  const context = library.contextCreate(ContextFlag.VERIFY);
  // One call at a time uses these, and none is ever freed.
  const signatureAt = library.malloc(SIGNATURE_BYTES);
  const parsedSignatureAt = library.malloc(PARSED_SIGNATURE_BYTES);
  const digestAt = library.malloc(DIGEST_BYTES);
  const parsedKeyAt = library.malloc(PARSED_KEY_BYTES);
  const keyAt = library.malloc(KEY_BYTES);
  const keyLengthAt = library.mallocSizeT(KEY_BYTES);

  return function recoverPublicKey(digest, signature, recovery) {
    library.heapU8.set(signature, signatureAt);
    library.heapU8.set(digest, digestAt);
    // r or s out of range: no key made this.
    if (library.recoverableSignatureParse(context, parsedSignatureAt, signatureAt, recovery === 0 ? 0 : 1) !== 1) {
      return undefined;
    }
    if (library.recover(context, parsedKeyAt, parsedSignatureAt, digestAt) !== 1) return undefined;
    library.pubkeySerialize(context, keyAt, keyLengthAt, parsedKeyAt, CompressionFlag.UNCOMPRESSED);
    return library.heapU8.slice(keyAt + 1, keyAt + KEY_BYTES);
  };
}

/**
 * Loads recovery on a build of libsecp256k1 to wasm that is small enough to live inside a bundle. It gets ready with the first
 * signature: most instances of a function start for a call that has none.
 *
 * @see https://github.com/bitcoin-core/secp256k1/blob/master/include/secp256k1_recovery.h
 */
export async function loadCompactRecovery(): Promise<RecoverPublicKey> {
  const library = await instantiateSecp256k1WasmBytes(readLibsecp256k1().buffer);
  let recover: RecoverPublicKey | undefined;
  return function recoverPublicKey(digest, signature, recovery) {
    recover ??= createRecover(library);
    return recover(digest, signature, recovery);
  };
}
