import type { Action } from '@prism-gateway/protocol';
import type { Address } from 'viem';

/** One signature in a submitted request: its own, or one an entry of a multi-user batch. */
export interface SignedPart {
  readonly signer: Address;
  /** The forwarder nonce that it was signed with. */
  readonly nonce: bigint;
}

/** A request that the gateway has stored. */
export interface Submitted {
  readonly requestId: string;
  readonly action: Action;
  readonly parts: readonly SignedPart[];
}
