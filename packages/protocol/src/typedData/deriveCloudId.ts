import type { Hex } from 'viem';
import { encodeAbiParameters, keccak256, padHex } from 'viem/utils';
import { readAddress } from './domain.ts';

/**
 * Computes the id that a new prism will have, so that data can be signed for it before it exists.
 *
 * @param creation.salt - `0x` and 1 to 32 bytes of hex, as in the params
 * @returns 32 bytes as hex: keccak-256 of `(signer, salt)`, ABI-encoded
 * @see docs/specification.md CHAIN-4
 */
export function deriveCloudId(creation: { readonly signer: string; readonly salt: string }): Hex {
  // The salt is `0x` and whole bytes by the params' schema.
  const salt = padHex(creation.salt as Hex, { size: 32 });
  return keccak256(
    encodeAbiParameters([{ type: 'address' }, { type: 'bytes32' }], [readAddress(creation.signer), salt]),
  );
}
