import type { Hex } from 'viem';
import type { Stake } from '../budgets/loss.ts';
import type { SignatureRef } from '../lifecycle/openRequest.ts';

/** Why a request is not taken now. */
export type LeaveReason =
  | 'action'
  | 'sponsor'
  | 'fee'
  | 'gasPrice'
  | 'early'
  /** Its time window ends before a transaction could be mined, and be as deep as it has to be. */
  | 'closing'
  | 'nonceAhead'
  | 'reverts'
  /** The nonces that it was signed for have not all been looked for yet. */
  | 'nonceUnknown'
  /** The node did not say what the check asked it. */
  | 'unjudged'
  /** It was to be claimed, and the gateway did not take the claim, nor anybody else's. */
  | 'unclaimed'
  /** The very same request stands in the queue before. */
  | 'duplicate'
  /** What may be lost to its signer, to its wallet's code, or in this time, is lost already. */
  | 'budget'
  /** A contract wallet whose code is not on the list. */
  | 'wallet';

/** A forwarder nonce of a signer that has to be used before the request can be. */
export interface NonceGap {
  /** In lower case. */
  readonly signer: Hex;
  readonly nonce: bigint;
}

/** What a check has found. */
export type Verdict =
  /** It can be claimed and submitted. */
  | {
      readonly kind: 'ready';
      readonly signatures: readonly SignatureRef[];
      readonly gas: bigint;
      /** What the fee is worth, less what the chain charges beside the gas. */
      readonly feeWei: bigint;
      /** What may be lost with it. */
      readonly stake: Stake;
      /** Of a run of one signer: the forwarder nonce that goes right before it, in the same transaction. */
      readonly follows?: bigint;
    }
  /** It can never succeed, or is executed already: it can be claimed and reported, without sending anything. */
  | { readonly kind: 'settle'; readonly signatures: readonly SignatureRef[]; readonly errorMessage: string }
  /** Not now, or not for this relayer. */
  | {
      readonly kind: 'leave';
      readonly reason: LeaveReason;
      readonly recheckAtMs: number;
      /** What the simulation reverted with, for `reverts` and `nonceAhead`. */
      readonly errorMessage?: string;
      readonly signatures?: readonly SignatureRef[];
      /** For `nonceAhead`: whose turn it is not, and the forwarder nonce that has to be used first. */
      readonly gap?: NonceGap;
      /** For `fee`: the highest price of gas that it pays for, in wei. */
      readonly paysAtWei?: bigint;
    };
