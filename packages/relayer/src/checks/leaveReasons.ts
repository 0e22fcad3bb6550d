import type { Hex } from 'viem';
import type { Stake } from '../budgets/loss.ts';
import type { SignatureRef } from '../lifecycle/states.ts';

/** The settings that verdicts rest on. */
export type EvaluationSetting =
  | 'ACTIONS'
  | 'CREDITS_PER_ETH'
  | 'FEE_MARGIN_PERCENT'
  | 'MAX_FEE_GWEI'
  | 'CONFIRMATIONS'
  | 'MAX_SPONSOR_CREDITS'
  | 'UNKNOWN_WALLETS'
  | 'UNKNOWN_WALLET_MARGIN_PERCENT'
  | 'the loss budgets';

/** Takes a digest of the settings that verdicts of a reason rest on. */
export type DigestSettings = (reason: LeaveReason) => string;

interface LeaveRule {
  /** It is looked at again after half the time that it has waited, but within these bounds in milliseconds; none: only other settings change it. */
  readonly recheckMs?: readonly [least: number, most: number];
  /** The end after `GIVE_UP_SECONDS`: it is claimed and reported failed, or, if it is claimed, given back; else it goes on waiting. */
  readonly finality?: 'fails' | 'givenBack';
  /** Whatever the chain does next, this relayer does not carry it out: a claimed one is given back at once. */
  readonly isForbidden?: true;
  /** Nothing of it changes before the chain's next block. */
  readonly isOfChain?: true;
  /** Only its signer can change it, whose next transaction has it looked at; else the end of its patience does. */
  readonly isOfSigner?: true;
  /** A transaction of its signer may end it: that has it looked at. */
  readonly isEndedBySigner?: true;
  /** Its fee pays. */
  readonly isPaying?: true;
  /** Its forwarder nonce has been seen to be free: nothing of it is on the chain. */
  readonly isUnused?: true;
  /** The settings that it rests on: with other ones it is looked at again. If all is left for one reason, they are the first to look at. */
  readonly settings?: readonly EvaluationSetting[];
  /** The thing that it waits for. */
  readonly waitsFor: string;
  /** How a claimed one is reported failed that the gateway does not take back. */
  readonly failure?: string;
}

/** All that is said of a reason, and the one place that says it. */
export const LEAVE_REASONS = {
  action: {
    isForbidden: true,
    settings: ['ACTIONS'],
    waitsFor: 'another relayer: ACTIONS does not name its action',
    failure: 'the relayer that claimed it does not carry out such actions',
  },
  sponsor: {
    // It costs less with a lower price of gas.
    recheckMs: [600_000, 3_600_000],
    isForbidden: true,
    settings: ['MAX_SPONSOR_CREDITS', 'CREDITS_PER_ETH', 'FEE_MARGIN_PERCENT', 'UNKNOWN_WALLET_MARGIN_PERCENT'],
    waitsFor: 'another relayer: it asks for more credits than MAX_SPONSOR_CREDITS',
    failure: 'the relayer that claimed it does not add so many credits to a prism',
  },
  wallet: {
    // A wallet may be upgraded.
    recheckMs: [3_600_000, 21_600_000],
    isForbidden: true,
    settings: ['UNKNOWN_WALLETS'],
    waitsFor: 'another relayer: UNKNOWN_WALLETS does not allow the code of its contract wallet',
    failure: 'the relayer that claimed it does not serve contract wallets of this code',
  },
  budget: {
    recheckMs: [1000, 1000],
    isForbidden: true,
    settings: ['the loss budgets'],
    waitsFor: 'a loss budget to be free again',
  },
  // Cheaper gas has it looked at, too; by the clock, whether its nonce is used, or its window is over.
  fee: {
    recheckMs: [600_000, 3_600_000],
    finality: 'givenBack',
    isUnused: true,
    isEndedBySigner: true,
    settings: ['CREDITS_PER_ETH', 'FEE_MARGIN_PERCENT', 'UNKNOWN_WALLET_MARGIN_PERCENT'],
    waitsFor: 'gas at a price that its fee pays',
  },
  gasPrice: {
    recheckMs: [2000, 10_000],
    isOfChain: true,
    isPaying: true,
    finality: 'givenBack',
    settings: ['MAX_FEE_GWEI'],
    waitsFor: 'gas below MAX_FEE_GWEI',
  },
  // Its signer's clock may be years ahead. Before its time, as for `fee`.
  early: {
    recheckMs: [600_000, 3_600_000],
    isUnused: true,
    isEndedBySigner: true,
    waitsFor: 'the time from which this relayer may submit it',
  },
  closing: {
    recheckMs: [0, 0],
    settings: ['CONFIRMATIONS'],
    waitsFor: 'its window to close: that ends before a transaction could be mined and confirmed',
  },
  nonceAhead: {
    recheckMs: [1000, 120_000],
    isOfChain: true,
    isEndedBySigner: true,
    finality: 'fails',
    isUnused: true,
    waitsFor: 'an earlier forwarder nonce of its signer',
  },
  reverts: {
    recheckMs: [1000, 30_000],
    isOfChain: true,
    isEndedBySigner: true,
    finality: 'fails',
    waitsFor: 'the chain to change: it would revert',
  },
  // Anybody may post any number of these.
  signature: {
    recheckMs: [1000, 30_000],
    isOfSigner: true,
    isEndedBySigner: true,
    finality: 'fails',
    waitsFor: 'its signer: another key has signed it, or for a forwarder nonce that is far off',
  },
  // The search goes on with the next look.
  nonceUnknown: { recheckMs: [0, 0], waitsFor: 'the search for the forwarder nonce that it was signed for' },
  unevaluated: { recheckMs: [2000, 60_000], waitsFor: 'an answer of the node' },
  unclaimed: { recheckMs: [5000, 60_000], isPaying: true, waitsFor: 'the gateway to take its claim' },
  // The end of the other one has it looked at, too.
  duplicate: {
    recheckMs: [30_000, 60_000],
    isEndedBySigner: true,
    waitsFor: 'the very same request, which stands before it in the queue',
  },
} as const satisfies Record<string, LeaveRule>;

/** Why a request is not taken now. */
export type LeaveReason = keyof typeof LEAVE_REASONS;

/** A forwarder nonce of a signer that has to be used before the request can be. */
export interface NonceGap {
  /** In lower case. */
  readonly signer: Hex;
  readonly nonce: bigint;
}

/** Whether an open request has the forwarder nonce that another one waits for, as the gateway said when it was asked last. */
export type GapState = 'awaited' | 'missing';

/** Not now, or not for this relayer. */
export interface Leave {
  readonly kind: 'leave';
  readonly reason: LeaveReason;
  /** Before that it cannot be carried out, in Unix milliseconds. */
  readonly notBeforeMs?: number;
  /** The simulation's error, for `reverts` and `nonceAhead`. */
  readonly errorMessage?: string;
  readonly signatures?: readonly SignatureRef[];
  /** For `nonceAhead`: whose turn it is not, and the forwarder nonce that has to be used first. */
  readonly gap?: NonceGap;
  /** For `nonceAhead`, once the gateway was asked. */
  readonly gapState?: GapState | undefined;
  /** For `fee`: the highest price of gas that it pays for, in wei. */
  readonly paysAtWei?: bigint;
}

/** The result of a check. */
export type Verdict =
  /** It can be claimed and submitted. */
  | {
      readonly kind: 'ready';
      readonly signatures: readonly SignatureRef[];
      readonly gas: bigint;
      /** The worth of the fee, less the chain's charge beside the gas. */
      readonly feeWei: bigint;
      /** The possible loss. */
      readonly stake: Stake;
      /** Of a run of one signer: the forwarder nonce that goes right before it, in the same transaction. */
      readonly follows?: bigint;
    }
  /** It can never succeed, or is executed already: it can be claimed and reported, without sending anything. */
  | {
      readonly kind: 'hopeless';
      readonly signatures: readonly SignatureRef[];
      readonly errorMessage: string;
      /** The forwarder nonce that no open request had, if that is why. */
      readonly gap?: NonceGap;
      /** It was waited for beyond all patience, and still is until it is claimed. */
      readonly isGivenUp?: true;
    }
  | Leave;

/** The rules of a reason. */
export const ruleOf = (reason: LeaveReason): LeaveRule => LEAVE_REASONS[reason];

/** All reasons. */
export const listReasons = (): readonly LeaveReason[] => Object.keys(LEAVE_REASONS).filter(isLeaveReason);

/** Whether a word is a reason, and not `ready` or `hopeless`. */
export const isLeaveReason = (word: string): word is LeaveReason => Object.hasOwn(LEAVE_REASONS, word);

/** How a gap is written. */
export const nameGap = ({ nonce, signer }: NonceGap): string => `${nonce} of ${signer}`;

/** The gap that `nameGap` has written. */
export function parseGap(name: string): NonceGap {
  const [nonce = '', signer] = name.split(' of ');
  // As `nameGap` writes it.
  return { nonce: BigInt(nonce), signer: signer as Hex };
}

/** Says in words what has to come first. @param gap - as `nameGap` writes it */
export function describeWait(reason: LeaveReason, gap: string | null, gapState: GapState | null): string {
  if (gap === null) return ruleOf(reason).waitsFor;
  const whose = { awaited: ', which an open request has', missing: ', which no open request has', none: '' };
  return `forwarder nonce ${gap}${whose[gapState ?? 'none']}`;
}

/** The reason for which a request was left last, and since when. */
export interface Wait {
  readonly reason: LeaveReason;
  /** As `nameGap` writes it. */
  readonly gap: string | null;
  readonly gapState: GapState | null;
  /** Unix time in milliseconds. */
  readonly sinceMs: number;
}

const isSame = (wait: Wait | undefined, { reason, gap }: Leave): wait is Wait =>
  wait !== undefined && wait.reason === reason && wait.gap === (gap === undefined ? null : nameGap(gap));

/** The gateway's state of a request's gap, as long as it waits for the same one. */
export const knownGapState = (wait: Wait | undefined, verdict: Leave): GapState | undefined =>
  isSame(wait, verdict) ? (wait.gapState ?? undefined) : undefined;

/**
 * Carries a wait on. It begins anew if something else is in the way: another reason, another forwarder nonce, or the request with that nonce
 * is not open any more. What a wallet's code says with each revert is no such thing.
 */
export function carryWait(last: Wait | undefined, verdict: Leave, nowMs: number): Wait {
  const { reason, gap, gapState = null } = verdict;
  const isCarried = isSame(last, verdict) && !(last.gapState === 'awaited' && gapState === 'missing');
  return { reason, gap: gap === undefined ? null : nameGap(gap), gapState, sinceMs: isCarried ? last.sinceMs : nowMs };
}

/** How long after it was expected a block is on the node, mostly, in milliseconds. */
const ARRIVAL_MS = 500;

/**
 * Says when a request is looked at again: the one place that does. It follows from its verdict and from how long it has waited, and so is
 * the same before and after a restart.
 *
 * @returns Unix time in milliseconds; Infinity: only with other settings
 */
export function chooseRecheck(
  verdict: Verdict,
  given: {
    readonly sinceMs: number;
    readonly nowMs: number;
    readonly giveUpMs: number;
    /** In how many milliseconds the chain's next block is expected, if that is known. */
    readonly nextBlockInMs?: number | undefined;
  },
): number {
  const { sinceMs, nowMs, giveUpMs, nextBlockInMs } = given;
  if (verdict.kind !== 'leave') return nowMs;
  const { recheckMs, finality, isOfChain, isOfSigner, isEndedBySigner } = ruleOf(verdict.reason);
  if (recheckMs === undefined) return Number.POSITIVE_INFINITY;
  const [soonest, most] = recheckMs;
  const isKnown = isOfChain && nextBlockInMs !== undefined;
  const least = isKnown ? Math.max(soonest, nextBlockInMs + ARRIVAL_MS) : soonest;
  const { notBeforeMs, gapState } = verdict;
  if (notBeforeMs !== undefined && !isEndedBySigner) return Math.max(notBeforeMs, nowMs + least);
  const nextMs = nowMs + Math.min(most, Math.max(least, (nowMs - sinceMs) / 2));
  if (notBeforeMs !== undefined) return Math.min(Math.max(notBeforeMs, nowMs), nextMs);
  const endMs = sinceMs + giveUpMs;
  if (isOfSigner && nowMs < endMs) return Math.max(endMs, nowMs + least);
  // Its patience is over: the second look shows.
  if (gapState === 'missing' && nowMs >= endMs) return nowMs + least;
  return finality === 'fails' && nowMs < endMs ? Math.min(nextMs, Math.max(endMs, nowMs + least)) : nextMs;
}
