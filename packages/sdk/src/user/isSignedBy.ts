import { recoverRequestSigner, type SignedRequest } from '@prism-gateway/protocol/typed-data';

/**
 * Tells whether the key of an account has signed a request, nonce included.
 *
 * @param signer - address, in any letter case
 */
export async function isSignedBy(signer: string, request: SignedRequest): Promise<boolean> {
  try {
    return (await recoverRequestSigner(request)).toLowerCase() === signer.toLowerCase();
  } catch {
    // No key can have made this signature over this nonce.
    return false;
  }
}
