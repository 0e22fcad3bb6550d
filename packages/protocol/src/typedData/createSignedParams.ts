import type { ActionParams } from '../requests/create.ts';
import type { UnsignedParams } from './createTypedData.ts';
import { splitSignature } from './signature.ts';
import type { SignedAction } from './structs.ts';

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
