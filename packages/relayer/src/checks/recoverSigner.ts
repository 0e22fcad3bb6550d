import { createRequire } from 'node:module';
import type { Hex } from 'viem';
import { recoverAddress } from 'viem';
import { hexToBytes, keccak256 } from 'viem/utils';

/** Recovers who signed a digest, in lower case; undefined where no key can have made the signature. */
export type RecoverSigner = (signed: {
  readonly digest: Hex;
  readonly v: number;
  readonly r: Hex;
  readonly s: Hex;
}) => Promise<Hex | undefined>;

interface Bindings {
  ecdsaRecover(signature: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array;
}

/** Bytes of a hash that make an address. */
const ADDRESS_BYTES = 20;

/** libsecp256k1 compiled for this platform; undefined where the package has no build for it. */
function loadBindings(): Bindings | undefined {
  try {
    // The package's own types are of its JavaScript; this is the native addon under it.
    return createRequire(import.meta.url)('secp256k1/bindings.js') as Bindings;
  } catch {
    return undefined;
  }
}

/**
 * Makes the recovery of signers: natively (0.1 ms), or in JavaScript (3 ms) where there is no build for the platform.
 *
 * @see https://github.com/bitcoin-core/secp256k1/blob/master/include/secp256k1_recovery.h
 */
export function createRecoverSigner(): RecoverSigner {
  const bindings = loadBindings();
  return async function recoverSigner({ digest, v, r, s }) {
    if (v !== 27 && v !== 28) return undefined;
    try {
      // Lower case of hex is hex.
      if (bindings === undefined)
        return (await recoverAddress({ hash: digest, signature: { r, s, yParity: v - 27 } })).toLowerCase() as Hex;
      const key = bindings.ecdsaRecover(hexToBytes(`${r}${s.slice(2)}`), v - 27, hexToBytes(digest), false);
      return `0x${keccak256(key.subarray(1)).slice(-2 * ADDRESS_BYTES)}`;
    } catch {
      // r or s out of range, or no point there.
      return undefined;
    }
  };
}
