import type { SignedWish } from '../life/openRequest.ts';

/** Why a request is not taken now. */
export type LeaveReason = 'action' | 'sponsor' | 'fee' | 'gasPrice' | 'early' | 'nonceAhead' | 'reverts';

/** What a check has found. */
export type Verdict =
  /** It can be claimed and submitted. */
  | { readonly kind: 'ready'; readonly wishes: readonly SignedWish[]; readonly gas: bigint; readonly feeWei: bigint }
  /** It can never succeed, or is executed already: it can be claimed and reported, without sending anything. */
  | { readonly kind: 'settle'; readonly wishes: readonly SignedWish[]; readonly errorMessage: string }
  /** Not now, or not for this relayer. */
  | {
      readonly kind: 'leave';
      readonly reason: LeaveReason;
      readonly recheckAtMs: number;
      /** What the simulation reverted with, for `reverts` and `nonceAhead`. */
      readonly errorMessage?: string;
      readonly wishes?: readonly SignedWish[];
    };
