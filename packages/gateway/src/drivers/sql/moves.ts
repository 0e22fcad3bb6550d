import { REQUEST_MOVES as MOVES } from '@prism-gateway/protocol/states';
import type {
  BatchTransition,
  Claim,
  ClaimTransition,
  Release,
  Report,
  StoredRequest,
  Transition,
} from '../../ports/requestStore.ts';
import type { Move } from './createTally.ts';
import { inBatch } from './tables.ts';

/** A record as it stands in a transaction, with what tells repetitions from rivals. */
export interface HeldRequest {
  record: StoredRequest;
  /** The call that moved it last. */
  callId: string | null;
  /** Who claimed it last, also after a release, and since when without a break of a lease. */
  heldBy: string | null;
  heldSince: number | null;
}

/**
 * What moves of one transaction work on: records that nobody else can move until it has ended. The functions of this file are the one
 * place that decides, for both SQL stores, whether a relayer may claim, report or give back.
 */
export interface MoveContext {
  find(requestId: string): HeldRequest | undefined;
  /** Gives a record that has changed the number of the next move. @param move - absent where nothing is counted: a renewal */
  changed(held: HeldRequest, move?: Move): void;
  /** How many requests a relayer holds. */
  heldBy(relayer: string): number;
  /** Counts a claim that was lost to a rival. */
  lost(relayer: string): void;
}

/** A time before every claim. */
const NEVER = -1;

const isSame = (one: string | null | undefined, other: string) => one?.toLowerCase() === other.toLowerCase();

/** The id of the call that moved a record last tells whose move it was: this call's, now or at an earlier try, or a rival's. */
function transitionOf(held: HeldRequest | undefined, callId: string): Transition {
  if (held === undefined) return { outcome: 'missing' };
  return { outcome: held.callId === callId ? 'moved' : 'conflict', record: held.record };
}

/** A time after every claim. */
const EVER = Number.MAX_SAFE_INTEGER;

/** Whether the relayer was the last to hold a record, without a break of a lease. */
const holdsOn = ({ record, heldBy }: HeldRequest, { relayer, leaseExpiredAt = EVER }: Claim) =>
  isSame(heldBy, relayer) && record.updatedAt > leaseExpiredAt;

/** Whether the relayer has held a record, renewed or claimed again, for as long as it may. */
const isHeldTooLong = ({ heldSince }: HeldRequest, { firstClaimedAfter = NEVER }: Claim) =>
  (heldSince ?? EVER) <= firstClaimedAfter;

/** Writes a claim into a record: one that is pending, has lapsed, or is renewed. */
function holdClaim(held: HeldRequest, { relayer, claimId, now }: Claim): void {
  const [status] = MOVES.claim.to;
  held.record = { ...held.record, status, claimedBy: relayer, claimedAt: now, updatedAt: now };
  held.callId = claimId;
}

/** Writes a claim of what nobody holds. */
function takeClaim(held: HeldRequest, one: Claim): void {
  const goesOn = held.record.status === MOVES.claim.from && holdsOn(held, one);
  if (!goesOn) held.heldSince = one.now;
  held.heldBy = one.relayer;
  holdClaim(held, one);
}

/** Whether a claim has lapsed for a relayer; for its own owner only after one more lease. */
function hasLapsed({ record, callId }: HeldRequest, claim: Claim): boolean {
  const { relayer, claimId, leaseExpiredAt, ownLeaseExpiredAt = leaseExpiredAt } = claim;
  if (record.status !== MOVES.takeOver.from || callId === claimId) return false;
  const limit = isSame(record.claimedBy, relayer) ? ownLeaseExpiredAt : leaseExpiredAt;
  return limit !== undefined && leaseExpiredAt !== undefined && (record.claimedAt ?? 0) <= limit;
}

/** Claims what is pending or has lapsed. */
export function claim(context: MoveContext, one: Claim): ClaimTransition {
  const { requestId, relayer, claimId, now, maxOpenClaims = Number.POSITIVE_INFINITY } = one;
  const held = context.find(requestId);
  if (held === undefined) return { outcome: 'missing' };
  const { status, chainName, claimedBy: oldOwner } = held.record;
  const isFull = context.heldBy(relayer) >= maxOpenClaims;
  const isLapsed = hasLapsed(held, one);
  const isOwn = isLapsed && isSame(oldOwner, relayer);
  const isPending = status === MOVES.claim.from;
  const isFree = isPending && !(holdsOn(held, one) && isHeldTooLong(held, one));
  if ((isFree && !isFull) || (isLapsed && (!isFull || isOwn))) {
    takeClaim(held, one);
    const move = { chainName, from: status, to: MOVES.claim.to[0], at: now, newOwner: relayer };
    if (isOwn) context.changed(held);
    else context.changed(held, { ...move, ...(isLapsed && oldOwner !== undefined && { oldOwner }) });
    return { outcome: 'moved', record: held.record };
  }
  const transition = transitionOf(held, claimId);
  if (transition.outcome !== 'conflict') return transition;
  if (isFull && (isPending || isLapsed)) return { outcome: 'full', record: held.record };
  context.lost(relayer);
  return transition;
}

/** Claims the requests of a batch; those that the relayer holds are renewed. */
export function claimAll(context: MoveContext, claims: readonly Claim[]): readonly BatchTransition[] {
  function claimOrRenew(one: Claim): ClaimTransition {
    const held = context.find(one.requestId);
    const { relayer, claimId, leaseExpiredAt = NEVER } = one;
    const { status, claimedBy, claimedAt = NEVER } = held?.record ?? {};
    const isHeld = status === MOVES.renew.from && isSame(claimedBy, relayer) && claimedAt > leaseExpiredAt;
    if (held !== undefined && isHeld && held.callId !== claimId && !isHeldTooLong(held, one)) {
      holdClaim(held, one);
      context.changed(held);
    }
    return claim(context, one);
  }
  return claims.map((one) => inBatch(claimOrRenew(one)));
}

/** Ends what the relayer holds. */
export function report(context: MoveContext, { requestId, relayer, reportId, now, outcome }: Report): Transition {
  const held = context.find(requestId);
  if (held?.record.status === MOVES.report.from && isSame(held.record.claimedBy, relayer)) {
    const { chainName, claimedAt } = held.record;
    held.record = { ...held.record, ...outcome, updatedAt: now };
    held.callId = reportId;
    context.changed(held, {
      chainName,
      from: MOVES.report.from,
      to: outcome.status,
      at: now,
      oldOwner: relayer,
      claimedAt,
    });
  }
  return transitionOf(held, reportId);
}

/** Makes every report of a batch. */
export const reportAll = (context: MoveContext, reports: readonly Report[]): readonly BatchTransition[] =>
  reports.map((one) => inBatch(report(context, one)));

/** Gives back what the relayer holds, or has reported failed: nothing of claim and report stays. */
function giveBack(context: MoveContext, name: 'release' | 'reopen', one: Release): Transition {
  const { requestId, relayer, releaseId, now, claimedAt } = one;
  const { from } = MOVES[name];
  const held = context.find(requestId);
  const isMeant = claimedAt === undefined || held?.record.claimedAt === claimedAt;
  if (held?.record.status === from && isSame(held.record.claimedBy, relayer) && isMeant) {
    const { claimedBy: _, claimedAt: __, errorMessage: ___, ...rest } = held.record;
    const [status] = MOVES[name].to;
    held.record = { ...rest, status, updatedAt: now };
    held.callId = releaseId;
    const move = { chainName: rest.chainName, from, to: status, at: now };
    context.changed(held, name === 'release' ? { ...move, oldOwner: relayer } : move);
  }
  return transitionOf(held, releaseId);
}

/** Call id of what an administrator has released. */
export const BY_ADMINISTRATOR = 'released by an administrator';

/** Gives back what the relayer holds. */
export const release = (context: MoveContext, one: Release): Transition => giveBack(context, 'release', one);

/** Makes pending again what the relayer has reported failed. */
export const reopen = (context: MoveContext, one: Release): Transition => giveBack(context, 'reopen', one);
