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
import { hasLapsed, holdsOn, isHeldTooLong, isRenewable, isSameRelayer as isSame } from '../../rules/claims.ts';
import type { Move, Weight } from './createCounterChanges.ts';
import { inBatch } from './tables.ts';

/** A record as it stands in a transaction, with what distinguishes repetitions from rivals. */
export interface HeldRequest {
  record: StoredRequest;
  /** The call that moved it last. */
  callId: string | null;
  /** Who claimed it last, also after a release, and since when without a break of a lease. */
  heldBy: string | null;
  heldSince: number | null;
  /** @see Move */
  readonly weight?: Weight;
}

/**
 * Context of one transaction's moves: nobody else can move its records until it has ended. The functions of this file are the one place
 * that decides, for both SQL stores, whether a relayer may claim, report or give back.
 */
export interface MoveContext {
  find(requestId: string): HeldRequest | undefined;
  /** Gives a record that has changed the number of the next move. @param move - absent if nothing is counted: a renewal */
  changed(held: HeldRequest, move?: Move): void;
  /** How many requests a relayer holds. */
  heldBy(relayer: string): number;
  /** Counts a claim that was lost to a rival. */
  lost(relayer: string): void;
}

/** The id of the call that moved a record last shows whose move it was: this call's, now or at an earlier try, or a rival's. */
function transitionOf(held: HeldRequest | undefined, callId: string): Transition {
  if (held === undefined) return { outcome: 'missing' };
  return { outcome: held.callId === callId ? 'moved' : 'conflict', record: held.record };
}

/** Whether what is pending was given back by the relayer that claims now, and its hold goes on. */
const goesOn = ({ record, heldBy }: HeldRequest, claim: Claim) =>
  record.status === MOVES.claim.from && isSame(heldBy, claim.relayer) && holdsOn(record.updatedAt, claim);

/** Writes a claim into a record: one that is pending, has lapsed, or is renewed. */
function holdClaim(held: HeldRequest, { relayer, claimId, now }: Claim): void {
  const [status] = MOVES.claim.to;
  held.record = { ...held.record, status, claimedBy: relayer, claimedAt: now, updatedAt: now };
  held.callId = claimId;
}

/** Writes a claim of what nobody holds. */
function takeClaim(held: HeldRequest, one: Claim): void {
  if (!goesOn(held, one)) held.heldSince = one.now;
  held.heldBy = one.relayer;
  holdClaim(held, one);
}

/** Claims what is pending or has lapsed. */
export function claim(context: MoveContext, one: Claim): ClaimTransition {
  const { requestId, relayer, claimId, now, maxOpenClaims = Number.POSITIVE_INFINITY } = one;
  const held = context.find(requestId);
  if (held === undefined) return { outcome: 'missing' };
  const { status, chainName, claimedBy: oldOwner } = held.record;
  const isFull = context.heldBy(relayer) >= maxOpenClaims;
  const isLapsed = status === MOVES.takeOver.from && held.callId !== claimId && hasLapsed(held.record, one);
  const isOwn = isLapsed && isSame(oldOwner, relayer);
  const isPending = status === MOVES.claim.from;
  const isFree = isPending && !(goesOn(held, one) && isHeldTooLong(held.heldSince ?? one.now, one));
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
    if (held?.record.status === MOVES.renew.from && held.callId !== one.claimId) {
      if (isRenewable({ ...held.record, heldSince: held.heldSince ?? one.now }, one)) {
        holdClaim(held, one);
        context.changed(held);
      }
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
