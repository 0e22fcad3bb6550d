import type { Hex } from 'viem';
import { concatHex, numberToHex } from 'viem/utils';
import type { ActionParams } from '../requests/create.ts';
import type { UnsignedParams } from './createTypedData.ts';
import type { SignedAction } from './structs.ts';

/** A signature as params carry it. */
export interface SplitSignature {
  readonly v: number;
  /** `0x` and 64 hex digits. */
  readonly r: string;
  /** `0x` and 64 hex digits. */
  readonly s: string;
}

/** A signature was not 65 bytes of hex with a recovery value of 27, 28, 0 or 1. It never repeats the signature. */
export class SignatureFormatError extends Error {
  override readonly name = 'SignatureFormatError';
  readonly code = 'SIGNATURE_FORMAT';
}

const pattern = /^0x[0-9a-fA-F]{130}$/;

/**
 * Splits a 65-byte signature, as wallets return it, into the three fields of params.
 *
 * @param signature - `0x` and 130 hex digits: `r`, `s`, recovery value (27 or 28; 0 or 1 are read as those)
 * @throws SignatureFormatError `SIGNATURE_FORMAT` for any other form, such as a compact (EIP-2098) or a contract's signature
 */
export function splitSignature(signature: string): SplitSignature {
  const recovery = pattern.test(signature) ? Number.parseInt(signature.slice(130), 16) : -1;
  const v = recovery < 27 ? recovery + 27 : recovery;
  if (v !== 27 && v !== 28) {
    throw new SignatureFormatError(
      'A signature must be 0x followed by 130 hex digits: r, s and a recovery value of 27, 28, 0 or 1.',
    );
  }
  return { v, r: signature.slice(0, 66), s: `0x${signature.slice(66, 130)}` };
}

/**
 * Joins the three fields of params to a 65-byte signature.
 *
 * @returns `0x` and 130 hex digits
 */
export function joinSignature({ v, r, s }: SplitSignature): Hex {
  // Both halves are `0x` and 64 hex digits.
  return concatHex([r as Hex, s as Hex, numberToHex(v, { size: 1 })]);
}

/**
 * Puts a signature to the params that it covers: what `POST /requests` takes.
 *
 * @param signed.signer - address of the account that signed
 * @param signed.signature - 65 bytes as hex, as `signTypedData` returns it
 * @throws SignatureFormatError `SIGNATURE_FORMAT`
 */
export function createSignedParams<A extends SignedAction>(signed: {
  readonly action: A;
  readonly params: UnsignedParams<A>;
  readonly signer: string;
  readonly signature: string;
}): ActionParams<A> {
  const { params, signer, signature } = signed;
  // Unsigned params are the action's params without these four fields.
  return { ...params, signer, ...splitSignature(signature) } as unknown as ActionParams<A>;
}
