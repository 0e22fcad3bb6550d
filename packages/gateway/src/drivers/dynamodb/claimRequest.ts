import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type { Claim, ClaimTransition, Transition } from '../../ports/requestStore.ts';
import { askStore } from './askStore.ts';
import { number, text } from './attributes.ts';
import { headOfAnswer, type Move, moveRequest, transitionOf } from './moveRequest.ts';
import type { OpenClaims } from './openClaims.ts';
import type { ParamsReader } from './params.ts';
import { callMarkOf, PENDING_ATTRIBUTES, type RequestHeader } from './requestItem.ts';
import type { RequestTable } from './requestTable.ts';

const { claim: CLAIM, takeOver: TAKE_OVER } = REQUEST_MOVES;

/** The part of the move that is the same from whatever state it comes. */
function createMove({
  requestId,
  relayer,
  claimId,
  now,
}: Claim): Pick<Move, 'requestId' | 'to' | 'callId' | 'set' | 'remove'> {
  const set = { claimedBy: text(relayer), claimedAt: number(now), updatedAt: number(now) };
  const remove = PENDING_ATTRIBUTES;
  return { requestId: requestId.toLowerCase(), to: CLAIM.to[0], callId: claimId, set, remove };
}

/** A claim that stands. */
type Held = RequestHeader['record'] & { readonly claimedBy: string; readonly claimedAt: number };

function readHeld(head: RequestHeader | undefined, { claimId }: Claim): Held | undefined {
  if (head === undefined || head.record.status !== TAKE_OVER.from) return undefined;
  // A repetition of the call that holds the claim is no take-over.
  if (Buffer.compare(callMarkOf(claimId), head.callMark ?? new Uint8Array()) === 0) return undefined;
  const { claimedBy, claimedAt } = head.record;
  return claimedBy === undefined || claimedAt === undefined ? undefined : { ...head.record, claimedBy, claimedAt };
}

const isOwn = ({ claimedBy }: Held, { relayer }: Claim) => claimedBy.toLowerCase() === relayer.toLowerCase();

function isLapsed(held: Held, claim: Claim): boolean {
  const { leaseExpiredAt, ownLeaseExpiredAt = leaseExpiredAt } = claim;
  const limit = isOwn(held, claim) ? ownLeaseExpiredAt : leaseExpiredAt;
  return limit !== undefined && held.claimedAt <= limit;
}

const isRenewable = (held: Held, claim: Claim) =>
  isOwn(held, claim) && held.claimedAt > (claim.leaseExpiredAt ?? Number.NEGATIVE_INFINITY);

type IsReplaceable = (held: Held, claim: Claim) => boolean;

/** What a claim needs beside the table. */
export interface ClaimContext {
  readonly table: RequestTable;
  readonly params: ParamsReader;
  readonly openClaims: OpenClaims;
}

/** Replaces the very claim that stands. */
function replaceClaim(table: RequestTable, claim: Claim, held: Held) {
  return moveRequest(table, {
    ...createMove(claim),
    from: [TAKE_OVER.from],
    condition: '#status = :standing AND #claimedBy = :standingOwner AND #claimedAt = :standingSince',
    values: {
      ':standing': text(TAKE_OVER.from),
      ':standingOwner': text(held.claimedBy),
      ':standingSince': number(held.claimedAt),
    },
  });
}

/** Most looks at a request whose claim is replaced by others again and again. */
const MAX_LOOKS = 5;

function claimPending(table: RequestTable, claim: Claim) {
  return moveRequest(table, {
    ...createMove(claim),
    from: [CLAIM.from],
    condition: '#status = :unclaimed AND (attribute_not_exists(#expiresAt) OR #expiresAt > :second)',
    values: { ':unclaimed': text(CLAIM.from), ':second': number(Math.floor(table.now() / 1000)) },
  });
}

/**
 * Claims a request: `pending` becomes `processing` by one conditional write. Only where that finds a claim that may be replaced, a
 * second one replaces that very claim; if it has gone meanwhile, the request is looked at anew.
 */
async function claimUnless(
  { table, params }: ClaimContext,
  claim: Claim,
  isReplaceable: IsReplaceable,
): Promise<Transition> {
  let answer = await claimPending(table, claim);
  for (let looks = 1; !answer.done; looks++) {
    const held = readHeld(headOfAnswer(answer), claim);
    if (held === undefined || !isReplaceable(held, claim)) break;
    answer = await replaceClaim(table, claim, held);
    if (answer.done || looks === MAX_LOOKS) break;
    answer = await claimPending(table, claim);
  }
  return await transitionOf(table, params, answer, claim.claimId);
}

/** Claims for a relayer that has no room: only what it holds already can be claimed anew. */
async function claimWithoutRoom(
  { table, params }: ClaimContext,
  claim: Claim,
  isReplaceable: IsReplaceable,
): Promise<ClaimTransition> {
  const { client, name: TableName } = table;
  const Key = { requestId: text(claim.requestId.toLowerCase()) };
  const { Item: item } = await askStore(() =>
    client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true })),
  );
  const answer = { done: false, item } as const;
  const held = readHeld(headOfAnswer(answer), claim);
  const isToBeHad = held !== undefined && isReplaceable(held, claim);
  if (isToBeHad && isOwn(held, claim)) {
    return await transitionOf(table, params, await replaceClaim(table, claim, held), claim.claimId);
  }
  const transition = await transitionOf(table, params, answer, claim.claimId);
  if (transition.outcome !== 'conflict') return transition;
  return isToBeHad || transition.record.status === CLAIM.from ? { ...transition, outcome: 'full' } : transition;
}

/** Keeps the bound of open claims around a claim. */
async function claimWithin(
  context: ClaimContext,
  claim: Claim,
  isReplaceable: IsReplaceable,
): Promise<ClaimTransition> {
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

/**
 * Claims a request: `pending`, or `processing` with a lapsed lease, becomes `processing`.
 *
 * @throws DependencyUnavailableError
 */
export function claimRequest(context: ClaimContext, claim: Claim): Promise<ClaimTransition> {
  return claimWithin(context, claim, isLapsed);
}

/**
 * Claims a request like `claimRequest`, or renews the claim where the relayer holds it already.
 *
 * @throws DependencyUnavailableError
 */
export function claimOrRenew(context: ClaimContext, claim: Claim): Promise<ClaimTransition> {
  return claimWithin(context, claim, (held) => isRenewable(held, claim) || isLapsed(held, claim));
}
