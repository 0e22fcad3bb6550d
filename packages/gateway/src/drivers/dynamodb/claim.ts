import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type { Claim, ClaimTransition } from '../../ports/requestStore.ts';
import { hasLapsed, holdsOn, isHeldTooLong, isRenewable, isSameRelayer } from '../../rules/claims.ts';
import { type Item, readItem, type Written } from './items.ts';
import { isMarkedBy, type Move, moveRequest, transitionOf } from './move.ts';
import type { OpenClaims } from './openClaims.ts';
import type { ParamsReader } from './params.ts';
import { headOf, isExpired, PENDING_ATTRIBUTES, type RequestHeader, type RequestTable } from './record.ts';

const { claim: CLAIM, takeOver: TAKE_OVER } = REQUEST_MOVES;

interface ClaimContext {
  readonly table: RequestTable;
  readonly params: Pick<ParamsReader, 'complete'>;
  readonly openClaims: OpenClaims;
}

/** A claim that stands. */
type Held = RequestHeader['record'] & {
  readonly claimedBy: string;
  readonly claimedAt: number;
  readonly heldSince: number;
};

function readHeld({ item }: Pick<Written, 'item'>, { claimId }: Claim): Held | undefined {
  const head = headOf(item);
  // A repetition of the call that holds the claim is no take-over.
  if (head?.record.status !== TAKE_OVER.from || isMarkedBy(head, claimId)) return undefined;
  const { claimedBy, claimedAt } = head.record;
  if (claimedBy === undefined || claimedAt === undefined) return undefined;
  return { ...head.record, claimedBy, claimedAt, heldSince: head.heldSince ?? claimedAt };
}

const isOwn = ({ claimedBy }: Held, { relayer }: Claim) => isSameRelayer(claimedBy, relayer);

type IsReplaceable = (held: Held, claim: Claim) => boolean;

interface ClaimMove extends Pick<Move, 'from' | 'condition' | 'values'> {
  /** Since when the relayer has held it, if that is not since this claim. */
  readonly heldSince?: number | undefined;
}

/** Makes the move that is the same from whatever state it comes. */
function makeClaim(table: RequestTable, claim: Claim, { heldSince, ...move }: ClaimMove): Promise<Written> {
  const { requestId, relayer, claimId: callId, now } = claim;
  const set = {
    ...{ claimedBy: relayer, claimedAt: now, updatedAt: now },
    heldSince,
  };
  const remove = [...PENDING_ATTRIBUTES, 'heldBy'];
  return moveRequest(table, { ...move, requestId, to: CLAIM.to[0], callId, set, remove });
}

/** Replaces the very claim that stands. */
const replaceClaim = (table: RequestTable, claim: Claim, held: Held) =>
  makeClaim(table, claim, {
    from: TAKE_OVER.from,
    heldSince: isOwn(held, claim) && !hasLapsed(held, claim) ? held.heldSince : undefined,
    condition: '#status = :held AND #claimedBy = :owner AND #claimedAt = :since',
    values: { ':held': TAKE_OVER.from, ':owner': held.claimedBy, ':since': held.claimedAt },
  });

const UNCLAIMED = '#status = :unclaimed AND (attribute_not_exists(#expiresAt) OR #expiresAt > :second)';
const unclaimedValues = (table: RequestTable, { relayer }: Claim): Item => ({
  ':claimant': relayer.toLowerCase(),
  ':unclaimed': CLAIM.from,
  ':second': Math.floor(table.now() / 1000),
});

/** Claims what the relayer has given back itself, and nobody has claimed since: its hold goes on, unless it was without it for a lease. */
function claimAgain(table: RequestTable, claim: Claim, { record, heldSince = claim.now }: RequestHeader) {
  const goesOn = holdsOn(record.updatedAt, claim);
  if (goesOn && isHeldTooLong(heldSince, claim)) return undefined;
  return makeClaim(table, claim, {
    ...{ from: CLAIM.from, heldSince: goesOn ? heldSince : claim.now },
    condition: `${UNCLAIMED} AND #heldBy = :claimant AND #updatedAt = :releasedAt`,
    values: { ...unclaimedValues(table, claim), ':releasedAt': record.updatedAt },
  });
}

/** Claims what is pending, whoever held it before. */
async function claimUnclaimed(table: RequestTable, claim: Claim): Promise<Written> {
  const written = await makeClaim(table, claim, {
    from: CLAIM.from,
    condition: `${UNCLAIMED} AND (attribute_not_exists(#heldBy) OR #heldBy <> :claimant)`,
    values: unclaimedValues(table, claim),
  });
  const head = written.done ? undefined : headOf(written.item);
  if (head?.record.status !== CLAIM.from || isExpired(head, table.now())) return written;
  return (await claimAgain(table, claim, head)) ?? written;
}

/** Most looks at a request whose claim is replaced by others again and again. */
const MAX_LOOKS = 5;

/**
 * Claims a request: `pending` becomes `processing` by one conditional write. Only if that finds a claim that may be replaced, a second
 * one replaces that very claim; if it has gone meanwhile, the request is looked at anew.
 */
async function claimUnless({ table, params }: ClaimContext, claim: Claim, isReplaceable: IsReplaceable) {
  let written = await claimUnclaimed(table, claim);
  for (let looks = 1; !written.done; looks++) {
    const held = readHeld(written, claim);
    if (held === undefined || !isReplaceable(held, claim)) break;
    written = await replaceClaim(table, claim, held);
    if (written.done || looks === MAX_LOOKS) break;
    written = await claimUnclaimed(table, claim);
  }
  return await transitionOf(table, params, written, claim.claimId);
}

/** Claims for a relayer that has no room: only what it holds already can be claimed anew. */
async function claimWithoutRoom(
  { table, params }: ClaimContext,
  claim: Claim,
  isReplaceable: IsReplaceable,
): Promise<ClaimTransition> {
  const found = { done: false, item: await readItem(table, { requestId: claim.requestId.toLowerCase() }) };
  const held = readHeld(found, claim);
  const isToBeHad = held !== undefined && isReplaceable(held, claim);
  if (isToBeHad && isOwn(held, claim)) {
    return await transitionOf(table, params, await replaceClaim(table, claim, held), claim.claimId);
  }
  const transition = await transitionOf(table, params, found, claim.claimId);
  if (transition.outcome !== 'conflict') return transition;
  return isToBeHad || transition.record.status === CLAIM.from ? { ...transition, outcome: 'full' } : transition;
}

/** Keeps the bound of open claims around a claim. */
async function claimWithin(context: ClaimContext, claim: Claim, isReplaceable: IsReplaceable) {
  const { openClaims } = context;
  const { maxOpenClaims, relayer } = claim;
  const givePlace = maxOpenClaims === undefined ? () => undefined : await openClaims.takePlace(relayer, maxOpenClaims);
  if (givePlace === undefined) return await claimWithoutRoom(context, claim, isReplaceable);
  try {
    const transition = await claimUnless(context, claim, isReplaceable);
    if (transition.outcome === 'moved') {
      const { requestId, chainName, claimedBy = relayer, claimedAt = claim.now } = transition.record;
      openClaims.opened({ requestId, chainName, relayer: claimedBy, claimedAt });
    }
    return transition;
  } finally {
    givePlace();
  }
}

/** Claims a request: `pending`, or `processing` with a lapsed lease, becomes `processing`. */
export const claimItem = (context: ClaimContext, claim: Claim): Promise<ClaimTransition> =>
  claimWithin(context, claim, hasLapsed);

/** Claims a request like `claimItem`, or renews the claim if the relayer holds it already. */
export const claimOrRenew = (context: ClaimContext, claim: Claim): Promise<ClaimTransition> =>
  claimWithin(context, claim, (held) => isRenewable(held, claim) || hasLapsed(held, claim));
