import type { RequestExecuted } from '@prism-gateway/contracts';
import type { UnsignedParams } from '@prism-gateway/protocol/typed-data';
import { createRequestHasher } from './createRequestHasher.ts';
import type { NonceContext, SignedPart } from './findNonce.ts';

/** Tells whether an event of the Forwarder is about one signature of a request. */
export type IsAbout = (event: Pick<RequestExecuted, 'digest' | 'signer' | 'nonce'>) => boolean;

/**
 * Makes the test whether an event tells of a signature: by the signer, and by the digest of that very request with the event's nonce.
 * Nothing else counts: anybody may put the same bytes of a signature into another call.
 *
 * @param context - chain and Forwarder that the digest is made for
 * @param part - what was signed
 * @see docs/specification.md CHAIN-12
 */
export function createExecutionTest(
  { chainId, forwarder }: Pick<NonceContext, 'chainId' | 'forwarder'>,
  { action, params, signer }: SignedPart,
): IsAbout {
  // What no struct holds (signer, signature, permit) is left out by the typed data.
  const hashWith = createRequestHasher({ action, params: params as UnsignedParams, chainId, forwarder });
  return (event) => event.signer.toLowerCase() === signer && hashWith(event.nonce) === event.digest.toLowerCase();
}
