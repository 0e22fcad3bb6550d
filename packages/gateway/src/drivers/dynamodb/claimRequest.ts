import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type { Claim, Transition } from '../../ports/requestStore.ts';
import { number, text } from './attributes.ts';
import { headOfAnswer, type Move, moveRequest, transitionOf } from './moveRequest.ts';
import type { ParamsReader } from './params.ts';
import { callMarkOf, type Head, PENDING_ATTRIBUTES } from './requestItem.ts';
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
type Held = Head['record'] & { readonly claimedBy: string; readonly claimedAt: number };

function readHeld(head: Head | undefined, { claimId }: Claim): Held | undefined {
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

/**
 * Claims a request: `pending` becomes `processing` by one conditional write. Only where that finds a claim that may be replaced, a
 * second one replaces that very claim.
 *
 * @param isReplaceable - which claims that stand may be replaced
 * @throws DependencyUnavailableError
 */
async function claimUnless(
  table: RequestTable,
  params: ParamsReader,
  { claim, isReplaceable }: { readonly claim: Claim; readonly isReplaceable: (held: Held, claim: Claim) => boolean },
): Promise<Transition> {
  const move = createMove(claim);
  const isUnclaimed = {
    from: [CLAIM.from],
    condition: '#status = :unclaimed',
    values: { ':unclaimed': text(CLAIM.from) },
  };
  let answer = await moveRequest(table, { ...move, ...isUnclaimed });
  const held = answer.done ? undefined : readHeld(headOfAnswer(answer), claim);
  if (held !== undefined && isReplaceable(held, claim)) {
    answer = await moveRequest(table, {
      ...move,
      from: [TAKE_OVER.from],
      condition: '#status = :standing AND #claimedBy = :standingOwner AND #claimedAt = :standingSince',
      values: {
        ':standing': text(TAKE_OVER.from),
        ':standingOwner': text(held.claimedBy),
        ':standingSince': number(held.claimedAt),
      },
    });
  }
  return await transitionOf(table, params, answer, claim.claimId);
}

/**
 * Claims a request: `pending`, or `processing` with a lapsed lease, becomes `processing`.
 *
 * @throws DependencyUnavailableError
 */
export function claimRequest(table: RequestTable, params: ParamsReader, claim: Claim): Promise<Transition> {
  return claimUnless(table, params, { claim, isReplaceable: isLapsed });
}

/**
 * Claims a request like `claimRequest`, or renews the claim where the relayer holds it already.
 *
 * @throws DependencyUnavailableError
 */
export function claimOrRenew(table: RequestTable, params: ParamsReader, claim: Claim): Promise<Transition> {
  const isReplaceable = (held: Held) => isRenewable(held, claim) || isLapsed(held, claim);
  return claimUnless(table, params, { claim, isReplaceable });
}
