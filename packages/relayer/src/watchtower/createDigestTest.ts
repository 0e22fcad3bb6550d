import type { RequestRecord } from '@prism-gateway/protocol';
import type { UnsignedParams } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import { createRequestHasher } from '../checks/createRequestHasher.ts';
import { listSignedParts } from '../checks/findNonce.ts';

/** What an event says of the request that it is of. */
export interface EventMark {
  readonly digest: Hex;
  /** In lower case. */
  readonly signer: Hex;
  readonly nonce: bigint;
}

/** A request, as its events know it. */
export interface DigestTest {
  /** Whose events can be its own, in lower case. */
  readonly signers: ReadonlySet<Hex>;
  /** Whether an event is of this very request, or of an entry of it. */
  isOf(event: EventMark): boolean;
}

/**
 * Makes the test whether an event is of a request: the digest of what was signed, with the nonce that the event tells.
 *
 * @param request - as the gateway has it
 * @param forwarder - where, and on which chain
 * @see docs/specification.md CHAIN-12
 */
export function createDigestTest(
  request: Pick<RequestRecord, 'action' | 'params'>,
  forwarder: { readonly chainId: number; readonly forwarder: Hex },
): DigestTest {
  const parts = listSignedParts(request).map(({ action, params, signer }) => ({
    signer,
    hashWith: createRequestHasher({ action, params: params as UnsignedParams, ...forwarder }),
  }));
  return {
    signers: new Set(parts.map(({ signer }) => signer)),
    isOf: ({ digest, signer, nonce }) =>
      parts.some((part) => part.signer === signer && part.hashWith(nonce) === digest),
  };
}
