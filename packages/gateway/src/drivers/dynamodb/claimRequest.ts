import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type { Claim, Transition } from '../../ports/requestStore.ts';
import { number, text } from './attributes.ts';
import { moveRequest, transitionOf } from './moveRequest.ts';
import type { ParamsReader } from './params.ts';
import type { RequestTable } from './requestTable.ts';

const { claim: CLAIM, takeOver: TAKE_OVER } = REQUEST_MOVES;

const isUnclaimed = '#status = :unclaimed';
// A repetition of the call that holds the claim is no take-over.
const isLapsed = '#status = :claimed AND #claimedAt <= :leaseExpiredAt AND #callMark <> :callMark';

/**
 * Claims a request: `pending`, or `processing` with a lapsed lease, becomes `processing`.
 *
 * @throws DependencyUnavailableError
 */
export async function claimRequest(table: RequestTable, params: ParamsReader, claim: Claim): Promise<Transition> {
  const { relayer, claimId, now, leaseExpiredAt } = claim;
  const answer = await moveRequest(table, {
    requestId: claim.requestId.toLowerCase(),
    from: leaseExpiredAt === undefined ? [CLAIM.from] : [CLAIM.from, TAKE_OVER.from],
    to: CLAIM.to[0],
    callId: claimId,
    set: { claimedBy: text(relayer), claimedAt: number(now), updatedAt: number(now) },
    condition: leaseExpiredAt === undefined ? isUnclaimed : `${isUnclaimed} OR (${isLapsed})`,
    values: {
      ':unclaimed': text(CLAIM.from),
      ...(leaseExpiredAt !== undefined && {
        ':claimed': text(TAKE_OVER.from),
        ':leaseExpiredAt': number(leaseExpiredAt),
      }),
    },
  });
  return await transitionOf(table, params, answer, claimId);
}
